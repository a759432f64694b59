import type { InferenceSession } from 'onnxruntime-web/webgpu';
import { ModelLoadError } from '../../../src/errors.ts';
import type { GraphEdits } from './edits.ts';

export type FloatType = 'float32' | 'float16';

/** One tensor of the KV cache, of shape [1, heads, tokens, size]. */
export interface CacheTensor {
  input: string;
  output: string;
}

/** What a model's graph takes and gives, read from the session. */
export interface Graph {
  hasPositions: boolean;
  /** The export's own input that limits for how many positions logits are computed. */
  keepInput: string | null;
  /** Whether logits are computed only for the rows that are asked for. */
  keepsRows: boolean;
  /** See {@link GraphEdits}. */
  edits: GraphEdits;
  cache: CacheTensor[];
  cacheType: FloatType;
  /** Bytes of one value of the cache. */
  valueBytes: number;
  heads: number;
  headSize: number;
  logitsType: FloatType;
  /** Values of a row of logits. */
  width: number;
}

const keepInputs = ['num_logits_to_keep', 'logits_to_keep'];

/**
 * Reads inputs and outputs of a decoder with a KV cache (`past_key_values.N.key`, `present.N.key`).
 *
 * @param config the content of `config.json`, for sizes that the graph leaves open
 * @param edits what was changed in the graph
 * @throws ModelLoadError for a graph of another kind
 */
export function readGraph(
  session: Pick<InferenceSession, 'inputMetadata' | 'outputMetadata'>,
  config: Record<string, unknown>,
  edits: GraphEdits,
): Graph {
  const inputs = new Map(session.inputMetadata.map((value) => [value.name, value]));
  const outputs = new Map(session.outputMetadata.map((value) => [value.name, value]));
  const refuse = (why: string): never => {
    throw new ModelLoadError(`This ONNX model can't be run: ${why}.`, { code: 'model_unsupported' });
  };
  const { rows, lengths } = edits;
  const needed = ['input_ids', ...(lengths ? [lengths.last, lengths.total] : ['attention_mask'])];
  for (const name of needed) if (!inputs.has(name)) refuse(`it has no input ${name}`);
  const known = new Set([...needed, ...(rows === null ? [] : [rows]), 'position_ids', ...keepInputs]);

  const cache: CacheTensor[] = [];
  const unknown: string[] = [];
  for (const name of inputs.keys()) {
    const match = /^past_key_values\.(\d+\.(?:key|value))$/.exec(name);
    if (match) {
      const output = `present.${match[1]}`;
      if (!outputs.has(output)) refuse(`it has the input ${name} but not the output ${output}`);
      cache.push({ input: name, output });
    } else if (!known.has(name)) {
      unknown.push(name);
    }
  }
  if (cache.length === 0) refuse('it has no KV cache (inputs past_key_values.N.key)');
  if (unknown.length > 0) {
    refuse(
      `its inputs ${unknown.join(', ')} are not known; recurrent, hybrid and multimodal models are not supported`,
    );
  }

  const first = inputs.get(cache[0]!.input)!;
  const logits = outputs.get('logits');
  if (!first.isTensor || !logits?.isTensor) return refuse('it has no output logits');
  const settings = textConfig(config);
  const number = (value: unknown) => (typeof value === 'number' && value > 0 ? value : null);
  const attentionHeads = number(settings.num_attention_heads);
  const hiddenSize = number(settings.hidden_size);
  const heads = number(first.shape[1]) ?? number(settings.num_key_value_heads) ?? attentionHeads;
  const headSize =
    number(first.shape[3]) ??
    number(settings.head_dim) ??
    (hiddenSize !== null && attentionHeads !== null ? hiddenSize / attentionHeads : null);
  const width = number(logits.shape[2]) ?? number(settings.vocab_size);
  if (heads === null || headSize === null || width === null) {
    return refuse('neither its graph nor config.json gives the sizes of its KV cache and logits');
  }
  const cacheType = floatType(first.type) ?? refuse(`its KV cache is of type ${first.type}`);
  const keepInput = keepInputs.find((name) => inputs.has(name)) ?? null;
  return {
    hasPositions: inputs.has('position_ids'),
    keepInput,
    keepsRows: keepInput !== null || rows !== null,
    edits,
    cache,
    cacheType,
    valueBytes: cacheType === 'float32' ? 4 : 2,
    heads,
    headSize,
    logitsType: floatType(logits.type) ?? refuse(`its logits are of type ${logits.type}`),
    width,
  };
}

/** Multimodal configurations keep the language model's part apart. */
export function textConfig(config: Record<string, unknown>): Record<string, unknown> {
  const inner = config.text_config;
  return typeof inner === 'object' && inner !== null ? { ...config, ...inner } : config;
}

const floatType = (type: string): FloatType | null =>
  type === 'float32' || type === 'float16' ? type : null;
