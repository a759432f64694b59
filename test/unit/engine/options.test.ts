import { describe, expect, it } from 'vitest';
import { checkOptions, type EngineOptions, modelSource } from '../../../src/engine/options.ts';
import { ProgressSum } from '../../../src/engine/progress.ts';
import { BadRequestError } from '../../../src/errors.ts';

describe('modelSource', () => {
  it('is the embedded model without a name', () => {
    const source = modelSource(undefined, undefined);
    expect(source).toMatchObject({ kind: 'files', id: 'tokenprism-tiny' });
    expect(source.kind === 'files' && Object.keys(source.files)).toEqual([
      'config.json',
      'generation_config.json',
      'tokenizer.json',
      'tokenizer_config.json',
      'onnx/model_q4.onnx',
    ]);
  });

  it.each([
    ['onnx-community/Qwen3-0.6B-ONNX', undefined, 'main'],
    ['onnx-community/Qwen3-0.6B-ONNX', 'abc123', 'abc123'],
  ])('takes %s of the Hub at %s', (repository, revision, expected) => {
    expect(modelSource(repository, revision)).toEqual({ kind: 'hub', repository, revision: expected });
  });

  it.each([
    ['https://my.host/models/x/', 'https://my.host/models/x/'],
    ['https://my.host/models/x', 'https://my.host/models/x/'],
  ])('takes the folder %s', (given, url) => {
    expect(modelSource(given, undefined)).toEqual({ kind: 'folder', url });
  });
});

const rejected: [string, object, string, string][] = [
  ['unknown option', { modell: 'x' }, 'modell', 'it has model'],
  ['model of one word', { model: 'gpt2' }, 'model', 'onnx-community'],
  ['model not a string', { model: 5 }, 'model', 'must be a string, or an object'],
  ['files of a model without a name', { model: { files: {} } }, 'model', "'id'"],
  [
    'files of another folder',
    { model: { id: 'm', files: { 'm/config.json': new Blob() } } },
    'model.files',
    'config.json',
  ],
  ['files that are paths', { model: { id: 'm', files: { 'config.json': '/x' } } }, 'model.files', 'Blobs'],
  ['folder with a query', { model: 'https://h/x/?token=1' }, 'model', "without '?'"],
  ['relative folder without a page', { model: './x/' }, 'model', 'resolved'],
  ['revision without model', { revision: 'main' }, 'revision', 'Hub'],
  ['revision of a folder', { model: 'https://h/x/', revision: 'main' }, 'revision', 'leave it out'],
  ['device', { device: 'cuda' }, 'device', 'auto, webgpu, wasm'],
  ['dtype', { dtype: 'q2' }, 'dtype', 'q4f16'],
  ['parser name', { toolParser: 5 }, 'toolParser', 'null for none'],
  ['empty parser name', { reasoningParser: '' }, 'reasoningParser', 'null for none'],
  ['worker not a function', { worker: {} }, 'worker', 'function'],
  ['toolCalling', { toolCalling: 'no' }, 'toolCalling', 'boolean'],
  ['drafts', { drafts: 3 }, 'drafts', 'boolean'],
  ['incompleteToolCalls', { incompleteToolCalls: 'drop' }, 'incompleteToolCalls', 'separate, raw, close'],
];

describe('checkOptions', () => {
  it.each(rejected)('rejects: %s', (_name, options, param, text) => {
    const check = () => checkOptions(options as EngineOptions);
    expect(check).toThrow(BadRequestError);
    expect(check).toThrow(text);
    expect(check).toThrow(expect.objectContaining({ param, status: 400 }));
  });

  it('fills in the defaults', () => {
    expect(checkOptions({})).toMatchObject({
      job: {
        backend: { kind: 'onnx', device: 'auto', dtype: 'auto' },
        wasmUrl: expect.stringMatching(/\.wasm$/),
      },
      format: { reasoningParser: undefined, toolParser: undefined, toolCalling: true },
      incompleteToolCalls: 'separate',
    });
  });
});

describe('ProgressSum', () => {
  it('adds up the files', () => {
    const sum = new ProgressSum();
    const step = (file: string | null, loaded: number, total: number) =>
      sum.add({ phase: file === null ? 'session' : 'download', file, loaded, total }).overall;
    expect(step('a', 5, 10)).toMatchObject({ loaded: 5, total: 10 });
    expect(step('b', 3, 0)).toMatchObject({ loaded: 8, total: 13 });
    expect(step('a', 10, 10)).toMatchObject({ loaded: 13, total: 13 });
    expect(step(null, 0, 0)).toMatchObject({ loaded: 13, total: 13 });
  });

  it('tells the speed of what came over the network in the last seconds', () => {
    let now = 0;
    const sum = new ProgressSum(() => now);
    const at = (milliseconds: number, file: string, loaded: number, received: number) => {
      now = milliseconds;
      const { overall } = sum.add({ phase: 'download', file, loaded, total: 100_000, received });
      return [overall.received, overall.bytesPerSecond];
    };
    // Too early to tell, then 1000 bytes a second, whatever was kept from an earlier load.
    expect(at(0, 'a', 50_000, 0)).toEqual([0, null]);
    expect(at(100, 'a', 50_100, 100)).toEqual([100, null]);
    expect(at(1000, 'a', 51_000, 1000)).toEqual([1000, 1000]);
    expect(at(2000, 'b', 3000, 3000)).toEqual([4000, 2000]);
    // What came longer ago counts no more: 500 bytes since then, and at last nothing.
    expect(at(6000, 'b', 3500, 3500)).toEqual([4500, 700]);
    expect(at(7000, 'b', 3500, 3500)).toEqual([4500, 100]);
    expect(at(20_000, 'b', 3500, 3500)).toEqual([4500, 0]);
  });

  it('tells no speed of files that are there already', () => {
    let now = 0;
    const sum = new ProgressSum(() => now);
    const speeds = [0, 500, 1000].map((at) => {
      now = at;
      const step = { phase: 'download' as const, file: 'a', loaded: at, total: 1000, received: 0 };
      return sum.add(step).overall.bytesPerSecond;
    });
    expect(speeds).toEqual([null, null, null]);
  });
});
