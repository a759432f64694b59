import { describe, expect, it, vi } from 'vitest';
import { ModelLoadError, RequestAbortedError } from '../../../src/errors.ts';
import type { LoadProgress, ModelSource } from '../../../src/protocol.ts';
import { openModelFiles } from '../../../worker/cache/files.ts';

const folder: ModelSource = { kind: 'folder', url: 'https://app.test/models/mine' };
const hub: ModelSource = { kind: 'hub', repository: 'owner/model', revision: 'main' };
const hubUrl = (name: string) => `https://huggingface.co/owner/model/resolve/main/${name}`;

type Answer = () => Response | Promise<Response>;
const json = (value: unknown) => () => Response.json(value);
const bytes =
  (...values: number[]) =>
  () =>
    new Response(Uint8Array.from(values));

/** The part of the Cache API that is used. */
class MemoryCaches {
  readonly entries = new Map<string, Response>();
  full = false;

  async open() {
    return {
      match: async (url: string) => this.entries.get(url)?.clone(),
      put: async (url: string, response: Response) => {
        if (this.full) throw new DOMException('no space', 'QuotaExceededError');
        this.entries.set(url, response);
      },
      delete: async (url: string) => this.entries.delete(url),
    };
  }
}

function setUp(source: ModelSource, answers: Record<string, Answer>) {
  const requested: string[] = [];
  const progress: LoadProgress[] = [];
  const caches = new MemoryCaches();
  const controller = new AbortController();
  const open = () =>
    openModelFiles(source, {
      fetch: async (url) => {
        requested.push(url);
        controller.signal.throwIfAborted();
        return answers[url]?.() ?? new Response('not here', { status: 404 });
      },
      caches: caches as unknown as CacheStorage,
      onProgress: (step) => progress.push(step),
      signal: controller.signal,
    });
  return { answers, requested, progress, caches, controller, open, files: open() };
}

describe('model files', () => {
  it('come from below the folder, with their bytes counted', async () => {
    const { files, progress, requested, caches } = setUp(folder, {
      'https://app.test/models/mine/onnx/model.onnx': () =>
        new Response(new Uint8Array(1000), { headers: { 'content-length': '1000' } }),
    });
    expect(await files.bytes('onnx/model.onnx')).toHaveLength(1000);
    expect(progress.at(-1)).toEqual({
      phase: 'download',
      file: 'onnx/model.onnx',
      loaded: 1000,
      total: 1000,
    });
    expect(progress[0]!.loaded).toBe(0);
    expect(requested).toEqual(['https://app.test/models/mine/onnx/model.onnx']);
    expect(caches.entries.size).toBe(0);
  });

  it('of a list are fetched from the addresses there, and nowhere else', async () => {
    const listed: ModelSource = {
      kind: 'files',
      id: 'mine',
      files: { 'config.json': 'https://app.test/a.json' },
    };
    const { files, requested } = setUp(listed, { 'https://app.test/a.json': json({ a: 1 }) });
    expect(await files.json('config.json')).toEqual({ a: 1 });
    expect(await files.optionalBytes('toString')).toBeNull();
    await expect(files.bytes('tokenizer.json')).rejects.toThrow(/has no file tokenizer.json/);
    expect(requested).toHaveLength(1);
  });

  it('that are missing are named by their address', async () => {
    const { files } = setUp(folder, {});
    await expect(files.json('config.json')).rejects.toThrow('https://app.test/models/mine/config.json');
    await expect(files.json('config.json')).rejects.toThrow(ModelLoadError);
    expect(await files.optionalJson('generation_config.json')).toBeNull();
  });

  it('are not what a single-page server answers for any path', async () => {
    const page = () =>
      new Response('<!doctype html>', { headers: { 'content-type': 'text/html; charset=utf-8' } });
    const untyped = () => new Response('<html>');
    const { files } = setUp(folder, {
      'https://app.test/models/mine/config.json': page,
      'https://app.test/models/mine/chat_template.jinja': page,
      'https://app.test/models/mine/onnx/model.onnx': untyped,
    });
    await expect(files.json('config.json')).rejects.toThrow(/has no file config.json/);
    expect(await files.optionalText('chat_template.jinja')).toBeNull();
    await expect(files.bytes('onnx/model.onnx')).rejects.toThrow(/is a web page/);
  });

  it('that end early, or can not be parsed, or are refused, give an error that says so', async () => {
    const { files } = setUp(folder, {
      'https://app.test/models/mine/short': () =>
        new Response(new Uint8Array(10), { headers: { 'content-length': '20' } }),
      'https://app.test/models/mine/config.json': () => new Response('{"a": '),
      'https://app.test/models/mine/private': () => new Response('', { status: 403 }),
      'https://app.test/models/mine/offline': () => Promise.reject(new TypeError('Failed to fetch')),
    });
    await expect(files.bytes('short')).rejects.toMatchObject({ code: 'download_incomplete' });
    await expect(files.json('config.json')).rejects.toThrow(/config.json is not valid JSON/);
    await expect(files.bytes('private')).rejects.toThrow(/status 403/);
    await expect(files.bytes('offline')).rejects.toThrow(
      /mine\/offline could not be downloaded: Failed to fetch/,
    );
  });

  it('are aborted with the load', async () => {
    const { files, controller } = setUp(folder, {});
    controller.abort();
    await expect(files.bytes('config.json')).rejects.toThrow(RequestAbortedError);
  });
});

describe('files of the Hub', () => {
  it('are kept, and so is that a file does not exist: the second load needs no network', async () => {
    const setting = setUp(hub, {
      [hubUrl('config.json')]: json({ a: 1 }),
      [hubUrl('onnx/b')]: bytes(1, 2, 3),
    });
    const load = async () => {
      const files = setting.open();
      return [
        await files.json('config.json'),
        await files.optionalText('chat_template.jinja'),
        [...(await files.firstOf(['onnx/a', 'onnx/b']))!.bytes],
      ];
    };
    const first = await load();
    expect(first).toEqual([{ a: 1 }, null, [1, 2, 3]]);
    expect(setting.requested).toHaveLength(4);
    for (const url of Object.keys(setting.answers)) delete setting.answers[url];
    expect(await load()).toEqual(first);
    expect(setting.requested).toHaveLength(4);
  });

  it('that are wrong are not kept: the next load can succeed', async () => {
    const setting = setUp(hub, { [hubUrl('onnx/a')]: () => new Response('<html>error</html>') });
    await expect(setting.files.bytes('onnx/a')).rejects.toThrow(ModelLoadError);
    expect(setting.caches.entries.size).toBe(0);
    setting.answers[hubUrl('onnx/a')] = bytes(7);
    expect([...(await setting.open().bytes('onnx/a'))]).toEqual([7]);
  });

  it('that are damaged in the cache are fetched again', async () => {
    const setting = setUp(hub, { [hubUrl('onnx/a')]: bytes(1, 2, 3) });
    await setting.files.bytes('onnx/a');
    const cut = new Response(Uint8Array.of(1, 2), { headers: { 'content-length': '3' } });
    setting.caches.entries.set(hubUrl('onnx/a'), cut);
    expect([...(await setting.open().bytes('onnx/a'))]).toEqual([1, 2, 3]);
    expect(setting.requested).toHaveLength(2);
    expect([...(await setting.open().bytes('onnx/a'))]).toEqual([1, 2, 3]);
    expect(setting.requested).toHaveLength(2);
  });

  it('load also when the disk is full', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const setting = setUp(hub, { [hubUrl('onnx/a')]: bytes(7) });
    setting.caches.full = true;
    expect([...(await setting.files.bytes('onnx/a'))]).toEqual([7]);
    expect(warn.mock.calls[0]![0]).toMatch(/not kept for the next visit: no space/);
    warn.mockRestore();
  });

  it('without a network take the stored choice instead of the better one', async () => {
    const offline = () => Promise.reject(new TypeError('Failed to fetch'));
    const setting = setUp(hub, { [hubUrl('onnx/b')]: bytes(2) });
    await setting.files.bytes('onnx/b');
    setting.answers[hubUrl('onnx/a')] = offline;
    expect((await setting.open().firstOf(['onnx/a', 'onnx/b']))!.name).toBe('onnx/b');
    setting.caches.entries.clear();
    await expect(setting.open().firstOf(['onnx/a', 'onnx/b'])).rejects.toThrow(/could not be downloaded/);
  });
});
