import { ModelLoadError } from '../src/errors.ts';
import type { LoadProgress, ModelReport, ModelSource } from '../src/protocol.ts';
import type { Backend } from './backends/backend.ts';
import { createOnnxBackend } from './backends/onnx/backend.ts';
import { textConfig } from './backends/onnx/graph.ts';
import { type Preparation, prepareOnnx } from './backends/onnx/preparation.ts';
import { configureRuntime, type WasmSource } from './backends/onnx/runtime.ts';
import { ScriptedBackend, type ScriptedModel, ScriptedTurns } from './backends/scripted/backend.ts';
import type { WebLlmLoad } from './backends/web-llm/load.ts';
import { type ModelFiles, openModelFiles } from './cache/files.ts';
import type { FileStore } from './cache/store.ts';
import { Drafts } from './drafts/drafts.ts';
import { Constraints } from './grammar/constraints.ts';
import type { Model } from './model.ts';
import { WrittenOutputs } from './prompt/outputs.ts';
import { buildTokenTable } from './prompt/table.ts';
import { ChatTemplate } from './prompt/template.ts';
import { PromptTokenizer } from './prompt/tokenizer.ts';
import { samplingDefaults } from './sampling/options.ts';
import type { LoadMessage } from './service.ts';

/** Context of models whose configuration does not say. */
const fallbackContextLength = 4096;

/** What a load gets from where it runs. */
export interface LoadEnvironment {
  fetch: typeof fetch;
  /** Where files are kept for the next load; `null`: nowhere. */
  store: FileStore | null;
  wasm: WasmSource;
  /** Imports an ES module by its URL; unset: as the platform does. */
  importModule?: (url: string) => Promise<unknown>;
}

const importModule = (url: string): Promise<unknown> => import(/* @vite-ignore */ url);

/**
 * Fetches a model's files, builds tokenizer, template and token table, and starts the backend. What takes long comes at
 * the same time:
 *
 * ```
 * weights ─────────────────────────────────────┐
 * runtime ─────────────┐                       ├─ session ─ self-test
 * descriptions ─ tokenizer, table, template ───┘
 * ```
 */
export async function loadModel(
  message: LoadMessage,
  onProgress: (progress: LoadProgress) => void,
  signal: AbortSignal,
  environment: LoadEnvironment,
): Promise<{ model: Model; backend: Backend }> {
  const mlc = await prepareMlc(message, environment);
  // Where one part fails, the others need not be downloaded to their end.
  const failed = new AbortController();
  const files = openModelFiles(mlc?.source ?? message.model, {
    fetch: (url, init) => environment.fetch(url, init),
    store: environment.store,
    cache: message.cache,
    onProgress,
    signal: AbortSignal.any([signal, failed.signal]),
  });
  let prepared: Preparation | undefined;
  if (message.backend.kind === 'onnx') {
    configureRuntime(environment.wasm);
    prepared = prepareOnnx(files, message.backend.device, message.backend.dtype);
  }
  try {
    return await startModel(message, files, { prepared, mlc }, onProgress, signal);
  } catch (error) {
    failed.abort();
    throw error;
  }
}

async function startModel(
  message: LoadMessage,
  files: ModelFiles,
  { prepared, mlc }: { prepared: Preparation | undefined; mlc: WebLlmLoad | null },
  onProgress: (progress: LoadProgress) => void,
  signal: AbortSignal,
): Promise<{ model: Model; backend: Backend }> {
  const [{ config, generation }, tokenizerJson, tokenizerConfig, templateFile] = await Promise.all([
    mlc ? mlc.configurations(files) : configurations(files),
    files.json('tokenizer.json'),
    files.optionalJson('tokenizer_config.json').then((found) => found ?? {}),
    files.optionalText('chat_template.jinja'),
  ]);
  onProgress({ phase: 'tokenizer', file: null, loaded: 0, total: 0 });
  const tokenizer = new PromptTokenizer(tokenizerJson, tokenizerConfig);
  const table = buildTokenTable(tokenizer, tokenizerJson);
  const written = new WrittenOutputs(table);
  const template = new ChatTemplate(tokenizer, tokenizerConfig, templateFile, written);
  const vocabularySize = table.flags.length;
  const eosTokenIds = eosIds(config, generation, tokenizer.tokenizer.eos_token_id, vocabularySize);
  const contextLength = contextLengthOf(config, tokenizerConfig);

  let createBackend: () => Promise<Backend>;
  if (message.backend.kind === 'scripted') {
    const scripted: ScriptedModel = {
      encode: (text) => tokenizer.encode(text),
      eosTokenId: eosTokenIds[0]!,
      vocabularySize,
      contextLength,
    };
    const turns = new ScriptedTurns(message.backend.turns, scripted, message.answered);
    createBackend = async () => new ScriptedBackend(turns, scripted);
  } else if (message.backend.kind === 'web-llm') {
    createBackend = () => mlc!.createBackend(vocabularySize, onProgress, signal);
  } else {
    const { device, dtype } = message.backend;
    createBackend = () => {
      const begun = prepared;
      // It is for the first backend only, and holds the weights.
      prepared = undefined;
      const options = { files, config, device, dtype, contextLength, vocabularySize, onProgress };
      return createOnnxBackend(options, begun);
    };
  }
  const backend = await createBackend();
  const { revision, storage } = await files.kept();
  const report: ModelReport = {
    id: mlc?.listed ?? idOf(message.model),
    modelType: typeof config.model_type === 'string' ? config.model_type : 'unknown',
    vocabularySize,
    contextLength: backend.capacity,
    eosTokenIds,
    chatTemplate: template.source,
    defaults: samplingDefaults(generation),
    ...(revision !== null && { revision }),
    ...(storage && { storage }),
  };
  const constraints = new Constraints({
    table,
    width: backend.width,
    eosTokenIds,
    encode: (text) => tokenizer.encode(text),
  });
  // A script says what each pass gives, one token after another; web-llm keeps the logits of one token a pass.
  const canDraft = message.backend.kind === 'onnx';
  const drafts = message.drafts === false || !canDraft ? null : new Drafts();
  return { model: { report, template, table, constraints, drafts, createBackend }, backend };
}

/** Fetched with what it needs only by those who use it. */
async function prepareMlc(
  { model, backend }: LoadMessage,
  environment: LoadEnvironment,
): Promise<WebLlmLoad | null> {
  if (backend.kind !== 'web-llm') return null;
  const { WebLlmLoad } = await import('./backends/web-llm/load.ts');
  return WebLlmLoad.prepare(model, backend, environment.importModule ?? importModule);
}

async function configurations(
  files: ModelFiles,
): Promise<{ config: Record<string, unknown>; generation: Record<string, unknown> }> {
  const [config, generation] = await Promise.all([
    files.json('config.json'),
    files.optionalJson('generation_config.json'),
  ]);
  return { config, generation: generation ?? {} };
}

function idOf(source: ModelSource): string {
  if (source.kind === 'files') return source.id;
  if (source.kind === 'hub') return source.repository;
  const path = new URL(source.url).pathname.split('/').filter((part) => part !== '');
  return decodeURIComponent(path.at(-1) ?? source.url);
}

function eosIds(
  config: Record<string, unknown>,
  generationConfig: Record<string, unknown>,
  tokenizerEos: number | undefined,
  vocabularySize: number,
): number[] {
  const given = generationConfig.eos_token_id ?? textConfig(config).eos_token_id ?? [];
  const ids = [...(Array.isArray(given) ? given : [given]), tokenizerEos].filter(
    (id): id is number => Number.isInteger(id) && id >= 0 && id < vocabularySize,
  );
  if (ids.length > 0) return [...new Set(ids)];
  throw new ModelLoadError(
    'Neither generation_config.json nor config.json nor tokenizer_config.json names an end-of-sequence token: answers would never end.',
    { code: 'eos_missing' },
  );
}

function contextLengthOf(config: Record<string, unknown>, tokenizerConfig: Record<string, unknown>): number {
  const isLength = (value: unknown): value is number =>
    typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 1e9;
  const positions = textConfig(config).max_position_embeddings;
  if (isLength(positions)) return positions;
  const length = tokenizerConfig.model_max_length;
  return isLength(length) ? length : fallbackContextLength;
}
