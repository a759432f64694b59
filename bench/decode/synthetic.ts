/** Models of Qwen3's shape with random weights in float32, as the Hub's export has it. */
import { contentField, integerField, join } from '../../worker/backends/onnx/protobuf.ts';

export interface SyntheticSize {
  layers: number;
  hidden: number;
  heads: number;
  cacheHeads: number;
  headSize: number;
  intermediate: number;
  vocabulary: number;
  positions: number;
  /** The layers are attention and nothing else, on queries, keys and values from tables. */
  isAttentionOnly: boolean;
}

/** For what a wide vocabulary costs: 39 MB of embeddings, which are the projection too. */
export const wideSize: SyntheticSize = {
  layers: 4,
  hidden: 64,
  heads: 4,
  cacheHeads: 2,
  headSize: 32,
  intermediate: 128,
  vocabulary: 151_936,
  positions: 4096,
  isAttentionOnly: false,
};

/** For what a long context costs: small enough to read thousands of tokens on a software adapter. */
export const longSize: SyntheticSize = {
  layers: 2,
  hidden: 64,
  heads: 2,
  cacheHeads: 1,
  headSize: 32,
  intermediate: 128,
  vocabulary: 512,
  positions: 4608,
  isAttentionOnly: false,
};

const ropeTheta = 1e6;

/** The model's `config.json`. */
export const syntheticConfig = (size: SyntheticSize) => ({
  architectures: ['Qwen3ForCausalLM'],
  model_type: 'qwen3',
  vocab_size: size.vocabulary,
  hidden_size: size.hidden,
  head_dim: size.headSize,
  intermediate_size: size.intermediate,
  num_attention_heads: size.heads,
  num_key_value_heads: size.cacheHeads,
  num_hidden_layers: size.layers,
  max_position_embeddings: size.positions,
  rms_norm_eps: 1e-6,
  rope_theta: ropeTheta,
  tie_word_embeddings: true,
  bos_token_id: size.vocabulary - 293,
  eos_token_id: size.vocabulary - 291,
});

/** Types of `onnx.proto3`. */
const FLOAT = 1;
const INT32 = 6;
const INT64 = 7;
type Attribute = number | { float: number };

/** The model file. The same on every machine. */
export function syntheticModel(size: SyntheticSize): Uint8Array<ArrayBuffer> {
  const {
    layers,
    hidden,
    heads,
    cacheHeads,
    headSize,
    intermediate,
    vocabulary,
    positions,
    isAttentionOnly,
  } = size;
  const nodes: Uint8Array[] = [];
  const weights: Uint8Array[] = [];
  const random = normalNumbers(1);

  const tensor = (name: string, dims: number[], type: number, bytes: Uint8Array) => {
    weights.push(
      contentField(5, [
        ...dims.map((dim) => integerField(1, dim)),
        integerField(2, type),
        contentField(8, name),
        contentField(9, [bytes]),
      ]),
    );
    return name;
  };
  const floats = (name: string, dims: number[], values: Float32Array) =>
    tensor(name, dims, FLOAT, new Uint8Array(values.buffer));
  const integers = (name: string, values: number[], dims = [values.length]) =>
    tensor(name, dims, INT64, new Uint8Array(BigInt64Array.from(values, BigInt).buffer));
  const gaussian = (name: string, dims: number[], spread: number) => {
    const values = new Float32Array(dims.reduce((product, dim) => product * dim, 1));
    for (let index = 0; index < values.length; index++) values[index] = spread * random();
    return floats(name, dims, values);
  };
  const ones = (name: string, length: number) => floats(name, [length], new Float32Array(length).fill(1));

  const node = (
    operator: string,
    inputs: string[],
    outputs: string[],
    attributes: Record<string, Attribute> = {},
    domain = '',
  ): string => {
    nodes.push(
      contentField(1, [
        ...inputs.map((name) => contentField(1, name)),
        ...outputs.map((name) => contentField(2, name)),
        contentField(3, `${outputs.find((name) => name !== '')}/${operator}`),
        contentField(4, operator),
        ...Object.entries(attributes).map(([name, value]) =>
          contentField(5, [
            contentField(1, name),
            ...(typeof value === 'number'
              ? [integerField(3, value), integerField(20, 2)]
              : [floatField(2, value.float), integerField(20, 1)]),
          ]),
        ),
        ...(domain === '' ? [] : [contentField(7, domain)]),
      ]),
    );
    return outputs[0]!;
  };
  const linear = (input: string, name: string, from: number, to: number) =>
    node('MatMul', [input, gaussian(`${name}.weight`, [from, to], from ** -0.5)], [`${name}.out`]);
  const epsilon = { float: 1e-6 };
  const normalize = (input: string, output: string, length: number) =>
    node('SimplifiedLayerNormalization', [input, ones(`${output}.weight`, length)], [output], {
      axis: -1,
      epsilon,
      stash_type: 1,
    });
  /** Adds, then normalizes: gives the normalized value and the sum. */
  const normalizeSum = (input: string, skip: string, output: string): [string, string] => {
    const inputs = [input, skip, ones(`${output}.weight`, hidden)];
    const sum = `${output}.sum`;
    node('SkipSimplifiedLayerNormalization', inputs, [output, '', '', sum], { epsilon }, 'com.microsoft');
    return [output, sum];
  };

  const embeddings = gaussian('model.embed_tokens.weight', [vocabulary, hidden], 1);
  const [cosines, sines] = rotations(positions, headSize, ropeTheta);
  floats('cos_cache', [positions, headSize / 2], cosines);
  floats('sin_cache', [positions, headSize / 2], sines);
  integers('one', [1]);
  integers('index_one', [1], []);
  node('ReduceSum', ['attention_mask', 'one'], ['mask_sum'], { keepdims: 1 });
  node('Sub', ['mask_sum', 'one'], ['last64']);
  node('Cast', ['last64'], ['last'], { to: INT32 });
  node('Shape', ['attention_mask'], ['mask_shape']);
  node('Gather', ['mask_shape', 'index_one'], ['total64'], { axis: 0 });
  node('Cast', ['total64'], ['total'], { to: INT32 });

  const attend = (name: string, layer: number, [query, key, content]: [string, string, string]) => {
    const past = (kind: string) => `past_key_values.${layer}.${kind}`;
    const present = (kind: string) => `present.${layer}.${kind}`;
    return node(
      'GroupQueryAttention',
      [query, key, content, past('key'), past('value'), 'last', 'total', 'cos_cache', 'sin_cache'],
      [`${name}.attention`, present('key'), present('value')],
      {
        num_heads: heads,
        kv_num_heads: cacheHeads,
        do_rotary: 1,
        rotary_interleaved: 0,
        scale: { float: headSize ** -0.5 },
      },
      'com.microsoft',
    );
  };

  let sum = node('Gather', [embeddings, 'input_ids'], ['embeddings']);
  let normalized = normalize(sum, 'model.layers.0.input_norm', hidden);
  const look = (part: string, count: number) =>
    node(
      'Gather',
      [gaussian(`${part}.table`, [vocabulary, count * headSize], 1), 'input_ids'],
      [`${part}.rows`],
    );
  if (isAttentionOnly) {
    const inputs: [string, string, string] = [look('q', heads), look('k', cacheHeads), look('v', cacheHeads)];
    // Each layer takes what the one before gives, so that none can be left out.
    for (let layer = 0; layer < layers; layer++) inputs[0] = attend(`model.layers.${layer}`, layer, inputs);
    normalized = linear(inputs[0], 'out', heads * headSize, hidden);
  }
  for (let layer = 0; layer < layers && !isAttentionOnly; layer++) {
    const name = `model.layers.${layer}`;
    const project = (part: string, count: number) => {
      const projected = linear(normalized, `${name}.${part}`, hidden, count * headSize);
      if (part === 'v') return projected;
      const split = integers(`${name}.${part}.split`, [0, 0, count, headSize]);
      const joined = integers(`${name}.${part}.join`, [0, 0, count * headSize]);
      const apart = node('Reshape', [projected, split], [`${name}.${part}.apart`]);
      const even = normalize(apart, `${name}.${part}.norm`, headSize);
      return node('Reshape', [even, joined], [`${name}.${part}.joined`]);
    };
    const attention = attend(name, layer, [
      project('q', heads),
      project('k', cacheHeads),
      project('v', cacheHeads),
    ]);
    const attended = linear(attention, `${name}.o`, heads * headSize, hidden);
    [normalized, sum] = normalizeSum(sum, attended, `${name}.post_norm`);
    const gate = linear(normalized, `${name}.gate`, hidden, intermediate);
    const up = linear(normalized, `${name}.up`, hidden, intermediate);
    const sigmoid = node('Sigmoid', [gate], [`${name}.sigmoid`]);
    const activated = node('Mul', [gate, sigmoid], [`${name}.activated`]);
    const product = node('Mul', [activated, up], [`${name}.product`]);
    const down = linear(product, `${name}.down`, intermediate, hidden);
    const next = layer + 1 < layers ? `model.layers.${layer + 1}.input_norm` : 'model.norm';
    [normalized, sum] = normalizeSum(sum, down, next);
  }
  node('Transpose', [embeddings], ['lm_head'], {}); // two axes: turned round without being told
  node('MatMul', [normalized, 'lm_head'], ['logits']);

  const batch = 'batch_size';
  const value = (name: string, type: number, dims: (number | string)[]) => [
    contentField(1, name),
    contentField(2, [
      contentField(1, [
        integerField(1, type),
        contentField(
          2,
          dims.map((dim) =>
            contentField(1, [typeof dim === 'number' ? integerField(1, dim) : contentField(2, dim)]),
          ),
        ),
      ]),
    ]),
  ];
  const caches = (side: 'past_key_values' | 'present', length: string) =>
    Array.from({ length: layers }, (_, layer) => ['key', 'value'].map((kind) => `${side}.${layer}.${kind}`))
      .flat()
      .map((name) => value(name, FLOAT, [batch, cacheHeads, length, headSize]));
  const inputs = [
    value('input_ids', INT64, [batch, 'sequence_length']),
    value('attention_mask', INT64, [batch, 'total_sequence_length']),
    value('position_ids', INT64, [batch, 'sequence_length']),
    ...caches('past_key_values', 'past_sequence_length'),
  ];
  const outputs = [
    value('logits', FLOAT, [batch, 'sequence_length', vocabulary]),
    ...caches('present', 'total_sequence_length'),
  ];
  const graph = [
    ...nodes,
    contentField(2, 'synthetic_qwen3'),
    ...weights,
    ...inputs.map((input) => contentField(11, input)),
    ...outputs.map((output) => contentField(12, output)),
  ];
  const operatorSet = (domain: string, version: number) =>
    contentField(8, [contentField(1, domain), integerField(2, version)]);
  return join([
    integerField(1, 8),
    contentField(7, graph),
    operatorSet('', 17),
    operatorSet('com.microsoft', 1),
  ]);
}

function floatField(number: number, value: number): Uint8Array {
  return join([Uint8Array.of(number * 8 + 5), new Uint8Array(Float32Array.of(value).buffer)]);
}

/** Cosines and sines of each position, for half of the head. */
function rotations(positions: number, headSize: number, base: number): [Float32Array, Float32Array] {
  const half = headSize / 2;
  const angles = Float32Array.from({ length: positions * half }, (_, index) => {
    const [position, pair] = [Math.floor(index / half), index % half];
    return position * base ** (-pair / half);
  });
  return [angles.map(Math.cos), angles.map(Math.sin)];
}

/** Normally distributed, from a seed (mulberry32, Box-Muller). */
function normalNumbers(seed: number): () => number {
  let state = seed;
  const uniform = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}
