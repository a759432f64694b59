import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ModelLoadError, WebGPUUnavailableError } from '../../../src/errors.ts';
import type { LoadProgress, ModelSource } from '../../../src/protocol.ts';
import type { Backend, Sequence } from '../../../worker/backends/backend.ts';
import { noEdits } from '../../../worker/backends/onnx/edits.ts';
import { readGraph } from '../../../worker/backends/onnx/graph.ts';
import { widenHalf } from '../../../worker/backends/onnx/half.ts';
import { checkNumbers, checkSteps, relativeDifference } from '../../../worker/backends/onnx/selftest.ts';
import { externalNames } from '../../../worker/backends/onnx/weights.ts';
import { loadModel } from '../../../worker/load.ts';
import type { Model } from '../../../worker/model.ts';
import { largestDifference, referenceLogits } from '../../fixtures/reference-logits.ts';
import { tinyFolder } from './models.ts';
import { Bench } from './scripted.ts';

const wasmFile = createRequire(import.meta.url).resolve(
  'onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm',
);
const source: ModelSource = { kind: 'folder', url: tinyFolder.href };

/** Serves the repository's files, as a server of the folder would. */
const fileFetch = async (url: RequestInfo | URL) => {
  try {
    return new Response(readFileSync(new URL(String(url))));
  } catch {
    return new Response(null, { status: 404 });
  }
};

const load = (device: 'auto' | 'wasm' | 'webgpu', dtype: 'auto' | 'q4' | 'q4f16' | 'fp32' = 'auto') => {
  const progress: LoadProgress[] = [];
  const result = loadModel(
    { type: 'load', model: source, backend: { kind: 'onnx', device, dtype }, wasmUrl: null },
    (step) => progress.push(step),
    new AbortController().signal,
    { fetch: fileFetch, store: null, wasm: { bytes: readFileSync(wasmFile) } },
  );
  return result.then((loaded) => ({ ...loaded, progress }));
};

describe('the embedded model on WASM', () => {
  let model: Model;
  let backend: Backend;
  let progress: LoadProgress[];
  beforeAll(async () => {
    ({ model, backend, progress } = await load('auto'));
  }, 120_000);
  afterAll(() => backend?.close());

  const lastRow = async (sequence: Sequence, ids: number[]) => {
    const logits = await sequence.forward(ids);
    const row = (await logits.read(0)).slice();
    logits.release();
    return row;
  };
  const { promptTokenIds, decodeTokenIds, rows } = referenceLogits;

  it('says which device was chosen and why, what was loaded, and how far', () => {
    expect(backend.report).toEqual({
      device: 'wasm',
      reason: expect.stringContaining('WebGPU'),
      adapter: null,
      dtype: 'q4',
      decode: 'growing',
      limits: [],
      sampling: 'cpu',
    });
    expect(model.report).toMatchObject({
      id: 'tiny',
      modelType: 'qwen3',
      vocabularySize: 2048,
      contextLength: 2048,
      eosTokenIds: [2041, 2039],
      defaults: { temperature: 0 },
    });
    const weights = progress.filter(({ file }) => file === 'onnx/model_q4.onnx');
    expect(weights.at(-1)!.loaded).toBe(readFileSync(new URL('onnx/model_q4.onnx', tinyFolder)).length);
    expect(progress.map(({ phase }) => phase)).toEqual(
      expect.arrayContaining(['download', 'tokenizer', 'session']),
    );
  });

  it('gives the reference logits for a prefill in pieces and for decode steps', async () => {
    const sequence = await backend.open();
    (await sequence.forward(promptTokenIds.slice(0, 64), 0)).release();
    expect(sequence.length).toBe(64);
    expect(largestDifference(await lastRow(sequence, promptTokenIds.slice(64)), rows[0]!)).toBeLessThan(1e-3);
    for (const [index, id] of decodeTokenIds.entries()) {
      expect(largestDifference(await lastRow(sequence, [id]), rows[index + 1]!)).toBeLessThan(1e-3);
    }
    sequence.close();
  }, 60_000);

  it('gives several rows at once, and the same logits again after a truncation', async () => {
    const sequence = await backend.open();
    const logits = await sequence.forward([...promptTokenIds, ...decodeTokenIds], decodeTokenIds.length + 1);
    for (const [index, row] of rows.entries()) {
      expect(largestDifference(await logits.read(index), row)).toBeLessThan(1e-3);
    }
    logits.release();
    await sequence.truncate(promptTokenIds.length);
    expect(sequence.length).toBe(promptTokenIds.length);
    expect(largestDifference(await lastRow(sequence, [decodeTokenIds[0]!]), rows[1]!)).toBeLessThan(1e-3);
    await sequence.truncate(0);
    expect(largestDifference(await lastRow(sequence, promptTokenIds), rows[0]!)).toBeLessThan(1e-3);
    sequence.close();
  }, 60_000);

  it('refuses what passes the context, and stays usable', async () => {
    const sequence = await backend.open();
    const tooMany = new Array<number>(2049).fill(5);
    await expect(sequence.forward(tooMany)).rejects.toMatchObject({ code: 'context_length_exceeded' });
    expect(largestDifference(await lastRow(sequence, promptTokenIds), rows[0]!)).toBeLessThan(1e-3);
    sequence.close();
    await expect(sequence.forward([1])).rejects.toThrow(/closed/);
  }, 60_000);

  it('copies a sequence, which then goes its own way', async () => {
    const sequence = await backend.open();
    (await sequence.forward([...promptTokenIds, 7, 8, 9], 0)).release();
    const copy = await backend.copy(sequence, promptTokenIds.length);
    expect(copy.length).toBe(promptTokenIds.length);
    sequence.close();
    expect(largestDifference(await lastRow(copy, [decodeTokenIds[0]!]), rows[1]!)).toBeLessThan(1e-3);
    expect(largestDifference(await lastRow(copy, [decodeTokenIds[1]!]), rows[2]!)).toBeLessThan(1e-3);
    copy.close();
  }, 60_000);

  it('passes the self-test, and a backend whose long prefills are wrong does not', async () => {
    expect(await checkNumbers(backend)).toBeNull();
    const wrong: Backend = {
      ...backend,
      width: backend.width,
      open: async () => {
        const sequence = await backend.open();
        const spoil = async (ids: readonly number[], rows?: number) => {
          const logits = await sequence.forward(ids, rows);
          if (ids.length < 32) return logits;
          const read = async (row: number) => (await logits.read(row)).map((value, id) => value + (id % 5));
          return { ...logits, rows: logits.rows, read, release: () => logits.release() };
        };
        return {
          length: 0,
          bytes: 0,
          forward: spoil,
          truncate: (length) => sequence.truncate(length),
          close: () => sequence.close(),
        };
      },
    };
    expect(await checkNumbers(wrong)).toMatch(/prefill of 40 tokens differs/);
  }, 60_000);

  it('compares steps run in two ways, and sees a way that gives other numbers', async () => {
    expect(await checkSteps(backend, () => {})).toBeNull();
    let isWrong = false;
    const wrong: Backend = {
      ...backend,
      width: backend.width,
      prefillPiece: 64,
      open: () => backend.open(),
      copy: async (sequence, length) => {
        const copy = await backend.copy(sequence, length);
        let steps = 0;
        return {
          length: 0,
          bytes: 0,
          // As a graph that was captured right and is replayed with a value of the time when it was captured.
          forward: (ids, rows) => copy.forward(isWrong && ++steps > 1 ? [7] : ids, rows),
          truncate: (length) => copy.truncate(length),
          close: () => copy.close(),
        };
      },
    };
    const check = checkSteps(wrong, (isOn) => {
      isWrong = isOn;
    });
    expect(await check).toMatch(/step 2 differs/);
  }, 60_000);

  it('answers a request greedily, and the same again with the same seed', async () => {
    const bench = new Bench(async () => ({ model, backend }));
    bench.load();
    const messages = [{ role: 'user', content: 'Hello!' }];
    bench.generate(1, { messages, maxTokens: 6 });
    expect((await bench.done(1)).choices[0]!.reason).toBe('length');
    for (const request of [2, 3]) {
      bench.generate(request, { messages, sampling: { temperature: 5, seed: 7 }, maxTokens: 6 });
    }
    await bench.done(3);
    expect(bench.tokens(3)).toEqual(bench.tokens(2));
    expect(bench.tokens(2)).not.toEqual(bench.tokens(1));
  }, 60_000);
});

describe('loading', () => {
  it('refuses WebGPU where there is none, and says why', async () => {
    await expect(load('webgpu')).rejects.toThrow(WebGPUUnavailableError);
    await expect(load('webgpu')).rejects.toThrow(/no WebGPU/);
  });

  it('names the files that are missing', async () => {
    await expect(load('wasm', 'fp32')).rejects.toThrow(/none of onnx\/model\.onnx/);
    const files = { 'config.json': new URL('config.json', tinyFolder).href };
    const loading = loadModel(
      {
        type: 'load',
        model: { kind: 'files', id: 'mine', files },
        backend: { kind: 'scripted', turns: [] },
        wasmUrl: null,
      },
      () => {},
      new AbortController().signal,
      { fetch: fileFetch, store: null, wasm: { url: '' } },
    );
    await expect(loading).rejects.toThrow(/The model mine has no file tokenizer.json/);
  });
});

describe('model files', () => {
  it('external data files are found by their names in the model', () => {
    const bytes = new TextEncoder().encode(
      'xx\u0008location\u0012model_q4.onnx_data\u0001yy model_q4.onnx_data_1 and again model_q4.onnx_data\n.onnx_dat',
    );
    expect(externalNames(bytes)).toEqual(['model_q4.onnx_data', 'model_q4.onnx_data_1']);
    expect(externalNames(readFileSync(new URL('onnx/model_q4.onnx', tinyFolder)))).toEqual([]);
  });

  it('half-precision values are widened exactly', () => {
    const bits = Uint16Array.of(0x3c00, 0xc000, 0x3555, 0x0001, 0x8000, 0x7bff, 0x7c00, 0xfc00, 0x7e00);
    const target = new Float32Array(bits.length);
    widenHalf(bits, target);
    expect([...target]).toEqual([
      1,
      -2,
      0.333251953125,
      2 ** -24,
      -0,
      65504,
      Infinity,
      -Infinity,
      Number.NaN,
    ]);
  });

  it('a NaN never counts as equal', () => {
    expect(relativeDifference(Float32Array.of(1, 2), Float32Array.of(1, Number.NaN))).toBeNaN();
  });
});

describe('graphs', () => {
  const tensor = (name: string, shape: (number | string)[], type = 'float32') =>
    ({ name, isTensor: true, type, shape }) as never;
  const inputs = [
    tensor('input_ids', ['batch', 'tokens'], 'int64'),
    tensor('attention_mask', ['batch', 'total'], 'int64'),
    tensor('past_key_values.0.key', ['batch', 'heads', 'past', 'size'], 'float16'),
    tensor('past_key_values.0.value', ['batch', 'heads', 'past', 'size'], 'float16'),
  ];
  const outputs = [
    tensor('logits', ['batch', 'tokens', 'vocabulary']),
    tensor('present.0.key', [], 'float16'),
    tensor('present.0.value', [], 'float16'),
  ];
  const config = { num_attention_heads: 16, num_key_value_heads: 8, hidden_size: 1024, vocab_size: 99 };

  it('take sizes that they leave open from the configuration', () => {
    const more = [...inputs, tensor('num_logits_to_keep', [], 'int64')];
    expect(readGraph({ inputMetadata: more, outputMetadata: outputs }, config, noEdits(''))).toMatchObject({
      hasPositions: false,
      keepInput: 'num_logits_to_keep',
      cacheType: 'float16',
      heads: 8,
      headSize: 64,
      width: 99,
    });
  });

  it('of another kind are refused by name', () => {
    const recurrent = [...inputs, tensor('past_conv.1', [1, 2, 3])];
    const read = (inputMetadata: never[]) => () =>
      readGraph({ inputMetadata, outputMetadata: outputs }, config, noEdits(''));
    expect(read(recurrent as never[])).toThrow(/past_conv\.1/);
    expect(read(recurrent as never[])).toThrow(ModelLoadError);
    expect(read(inputs.slice(0, 2) as never[])).toThrow(/no KV cache/);
  });
});
