/** Models that are sure not to fit are refused before they are downloaded. */
import { describe, expect, it } from 'vitest';
import { ModelLoadError } from '../../../src/errors.ts';
import { contentField, integerField } from '../../../worker/backends/onnx/protobuf.ts';
import { type Room, roomFor } from '../../../worker/backends/onnx/room.ts';
import { loadWeights } from '../../../worker/backends/onnx/weights.ts';
import { openModelFiles } from '../../../worker/cache/files.ts';
import { hubCommit } from '../../fixtures/hub-listing.ts';

const gib = 2 ** 30;

/** A model of the Hub whose list tells these sizes; `bytes` are the files that are there. */
function modelOf(sizes: Record<string, number>, bytes: Record<string, Uint8Array<ArrayBuffer>> = {}) {
  const requested: string[] = [];
  const siblings = Object.entries(sizes).map(([rfilename, size]) => ({
    rfilename,
    lfs: { size, sha256: '0'.repeat(64) },
  }));
  const files = openModelFiles(
    { kind: 'hub', repository: 'owner/model', revision: 'main' },
    {
      fetch: async (url) => {
        requested.push(url);
        if (url.includes('/api/models/')) return Response.json({ sha: hubCommit, siblings });
        const name = url.split(`${hubCommit}/`)[1]!;
        return bytes[name] ? new Response(bytes[name]) : new Response(null, { status: 404 });
      },
      store: null,
      onProgress: () => {},
      signal: new AbortController().signal,
    },
  );
  return { files, requested };
}

const everywhere: Room = { weights: Infinity, because: '', tensor: Infinity };
const of = (error: unknown) => {
  expect(error).toBeInstanceOf(ModelLoadError);
  const { code, bytes, message } = error as ModelLoadError;
  return { code, bytes, message };
};
const refusal = (loading: Promise<unknown>) => loading.then(() => 'loaded', of);

describe('weights that do not fit', () => {
  const sizes = {
    'onnx/model.onnx': 1e6,
    'onnx/model.onnx_data': 4e9,
    'onnx/model.onnx_data_1': 2e9,
    'onnx/model_q4.onnx': 1.9e9,
    'onnx/model_q4f16.onnx': 1.1e9,
    // Another's.
    'onnx/model_q4.onnx_database': 9e9,
  };
  const room: Room = { ...everywhere, weights: 2e9, because: 'there is no more' };

  it('are refused with the numbers, and with those that fit', async () => {
    const { files, requested } = modelOf(sizes);
    expect(await refusal(loadWeights(files, 'fp32', true, room))).toEqual({
      code: 'model_too_large',
      bytes: { needed: 6.001e9, available: 2e9 },
      message:
        "The Hub repository owner/model (main) is too large: its weights of dtype 'fp32' take 6.00 GB, and at most " +
        "2.00 GB fit, because there is no more. Use dtype 'q4f16', whose weights take 1.10 GB, or a smaller model.",
    });
    // The list alone.
    expect(requested).toHaveLength(1);
    const withoutHalf = await refusal(loadWeights(files, 'fp32', false, room));
    expect(withoutHalf).toMatchObject({ message: expect.stringContaining("Use dtype 'q4', whose") });
    const tiny = await refusal(loadWeights(files, 'auto', true, { ...room, weights: 1e9 }));
    expect(tiny).toMatchObject({
      message: expect.stringMatching(/'q4f16' take 1\.10 GB.* Use a smaller model\.$/),
    });
    expect(requested).toHaveLength(1);
  });

  it('are asked for where they fit exactly, or nobody knows', async () => {
    for (const weights of [1.1e9, Infinity]) {
      const { files, requested } = modelOf(sizes);
      await expect(loadWeights(files, 'auto', true, { ...room, weights })).rejects.toThrow(/not there/);
      expect(requested.at(-1)).toMatch(/model_q4f16\.onnx$/);
    }
  });
});

describe('a tensor that no buffer holds', () => {
  const external = (key: string, value: string) =>
    contentField(13, [contentField(1, key), contentField(2, value)]);
  const initializer = (name: string, ...data: Uint8Array[]) =>
    contentField(5, [integerField(2, 1), contentField(8, name), ...data]);
  const model = contentField(7, [
    initializer('small', contentField(9, [new Uint8Array(16)])),
    initializer(
      'embedding',
      external('location', 'model_q4.onnx_data'),
      external('offset', '16'),
      external('length', '300000000'),
    ),
    initializer('listed', integerField(7, 3)),
  ]) as Uint8Array<ArrayBuffer>;
  const room: Room = { ...everywhere, tensor: 2 ** 28 };

  it('is refused before the data that it is in, which may be large', async () => {
    const folder = new Map([['https://app.test/m/onnx/model_q4.onnx', model]]);
    const requested: string[] = [];
    const files = openModelFiles(
      { kind: 'folder', url: 'https://app.test/m/' },
      {
        fetch: async (url) => {
          requested.push(url);
          const found = folder.get(url);
          return found ? new Response(found) : new Response(null, { status: 404 });
        },
        store: null,
        onProgress: () => {},
        signal: new AbortController().signal,
      },
    );
    expect(await refusal(loadWeights(files, 'q4', false, room))).toEqual({
      code: 'model_too_large',
      bytes: { needed: 3e8, available: 2 ** 28 },
      message:
        'The model folder https://app.test/m/: onnx/model_q4.onnx is too large for this GPU: its tensor embedding takes ' +
        "0.30 GB, and a buffer holds at most 0.27 GB (maxBufferSize). Use weights with fewer bits (dtype), a smaller model, or device 'wasm'.",
    });
    expect(requested.filter((url) => url.endsWith('_data'))).toEqual([]);
    await expect(loadWeights(files, 'q4', false, everywhere)).rejects.toThrow(
      /no file onnx\/model_q4\.onnx_data/,
    );
  });
});

describe('room', () => {
  const gpu = { limits: { maxBufferSize: 2 * gib } };

  it('on a GPU is what a buffer holds, and memory where there is little', () => {
    expect(roomFor(gpu, {})).toMatchObject({ weights: Infinity, tensor: 2 * gib });
    expect(roomFor(gpu, { deviceMemory: 8 })).toMatchObject({ weights: Infinity, tensor: 2 * gib });
    // 4 may be 6, and weights are there twice.
    expect(roomFor(gpu, { deviceMemory: 4 })).toMatchObject({ weights: 3 * gib, tensor: 2 * gib });
    expect(roomFor(gpu, { deviceMemory: 4 }).because).toContain('about 4 GiB of memory');
    const brands = [{ brand: 'Chromium' }, { brand: 'Brave' }];
    expect(roomFor(gpu, { deviceMemory: 0.5, userAgentData: { brands } }).weights).toBe(Infinity);
  });

  it('on WASM is its memory, or less', () => {
    expect(roomFor(null, {})).toMatchObject({ weights: 4 * gib, tensor: Infinity });
    expect(roomFor(null, undefined).because).toContain('WebAssembly');
    expect(roomFor(null, { deviceMemory: 2 })).toMatchObject({ weights: 1.5 * gib });
  });
});
