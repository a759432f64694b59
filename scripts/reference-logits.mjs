/**
 * Makes test/fixtures/reference-logits.json: logits of the embedded model computed on the CPU, in one prefill
 * and with plain arrays, which the browser tests compare with what WebGPU gives.
 *
 *     node scripts/reference-logits.mjs [another ONNX file to compare with]
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Template } from '@huggingface/jinja';
import { PreTrainedTokenizer } from '@huggingface/transformers';
import * as ort from 'onnxruntime-web/webgpu';

const model = new URL('../models/tiny/', import.meta.url);
const target = new URL('../test/fixtures/reference-logits.json', import.meta.url);
const readJson = (name) => JSON.parse(readFileSync(new URL(name, model), 'utf8'));

const wasm = createRequire(import.meta.url).resolve('onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm');
ort.env.wasm.wasmBinary = readFileSync(wasm);
ort.env.wasm.numThreads = 1;

const tokenizerConfig = readJson('tokenizer_config.json');
const tokenizer = new PreTrainedTokenizer(readJson('tokenizer.json'), tokenizerConfig);
const content =
  'Hello! Please look up the weather in Berlin and in Tokyo, compare both, and save a note that says which city is warmer today.';
const text = new Template(tokenizerConfig.chat_template).render({
  messages: [
    { role: 'system', content: 'You are a helpful assistant that answers briefly.' },
    { role: 'user', content },
  ],
  add_generation_prompt: true,
});
const promptTokenIds = tokenizer.encode(text, { add_special_tokens: false });
/** Fed one by one after the prompt. */
const decodeTokenIds = tokenizer.encode('<think>\nThe user wants', { add_special_tokens: false });

/** The last row after the prompt, and the row after each decoded token. */
async function compute(file) {
  const session = await ort.InferenceSession.create(readFileSync(file), { executionProviders: ['wasm'] });
  const rows = [];
  let cache = null;
  let length = 0;
  const forward = async (ids) => {
    const integers = (values) =>
      new ort.Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
    const feeds = {
      input_ids: integers(ids),
      attention_mask: integers(new Array(length + ids.length).fill(1)),
      position_ids: integers(ids.map((_, index) => length + index)),
    };
    for (const { name, shape } of session.inputMetadata) {
      if (!name.startsWith('past_key_values')) continue;
      const empty = new ort.Tensor('float32', new Float32Array(0), [1, shape[1], 0, shape[3]]);
      feeds[name] = cache ? cache[name.replace('past_key_values', 'present')] : empty;
    }
    cache = await session.run(feeds);
    length += ids.length;
    const width = cache.logits.dims[2];
    rows.push(Float32Array.from(cache.logits.data.subarray((ids.length - 1) * width, ids.length * width)));
  };
  await forward(promptTokenIds);
  for (const id of decodeTokenIds) await forward([id]);
  await session.release();
  return rows;
}

const rows = await compute(new URL('onnx/model_q4.onnx', model));
const other = process.argv[2];
if (other) {
  const otherRows = await compute(other);
  const differences = rows.map((row, index) =>
    row.reduce((largest, value, at) => Math.max(largest, Math.abs(value - otherRows[index][at])), 0),
  );
  console.log(
    `largest difference of each row: ${differences.map((value) => value.toExponential(1)).join(', ')}`,
  );
}
const fixture = {
  about: 'Made by scripts/reference-logits.mjs. rows: little-endian float32 in base64.',
  promptTokenIds,
  decodeTokenIds,
  rows: rows.map((row) => Buffer.from(row.buffer).toString('base64')),
};
writeFileSync(target, `${JSON.stringify(fixture, null, 1)}\n`);
console.log(
  `${promptTokenIds.length} tokens of prompt, ${decodeTokenIds.length} decoded: ${target.pathname}`,
);
process.exit(0);
