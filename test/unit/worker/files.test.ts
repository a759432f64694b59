import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ModelLoadError, RequestAbortedError, StorageQuotaError } from '../../../src/errors.ts';
import type { CacheChoice, LoadProgress, ModelSource } from '../../../src/protocol.ts';
import { openModelFiles } from '../../../worker/cache/files.ts';
import { hubCommit, hubListing } from '../../fixtures/hub-listing.ts';
import { MemoryStore } from './memory-store.ts';

const folder: ModelSource = { kind: 'folder', url: 'https://app.test/models/mine' };
const folderUrl = (name: string) => `https://app.test/models/mine/${name}`;
const hub: ModelSource = { kind: 'hub', repository: 'owner/model', revision: 'main' };
const listUrl = 'https://huggingface.co/api/models/owner/model/revision/main?blobs=true';
const hubUrl = (name: string) => `https://huggingface.co/owner/model/resolve/${hubCommit}/${name}`;

type Answer = (request: { range: string | null; count: number }) => Response | Promise<Response>;

const json = (value: unknown) => () => Response.json(value);
const body = (bytes: Uint8Array<ArrayBuffer>) => () => new Response(bytes);
const content = (length: number) => Uint8Array.from({ length }, (_, index) => (index * 7 + 3) % 251);
const page = () =>
  new Response('<!doctype html>', { headers: { 'content-type': 'text/html; charset=utf-8' } });

/** A body that breaks behind `bytes`. */
const broken = (bytes: Uint8Array<ArrayBuffer>, init: ResponseInit) =>
  new Response(
    new ReadableStream(
      {
        pull(controller) {
          if (bytes.length > 0) controller.enqueue(bytes);
          controller.error(new TypeError('network error'));
        },
      },
      { highWaterMark: 0 },
    ),
    init,
  );

/** A part as servers send it. */
function part(
  whole: Uint8Array<ArrayBuffer>,
  range: string | null,
  headers: Record<string, string> = {},
): Response {
  if (range === null) return new Response(whole, { headers });
  const from = Number(/^bytes=(\d+)-$/.exec(range)![1]);
  const described = { 'content-range': `bytes ${from}-${whole.length - 1}/${whole.length}`, ...headers };
  return new Response(whole.slice(from), { status: 206, headers: described });
}

function setUp(source: ModelSource, answers: Record<string, Answer>, cache?: CacheChoice) {
  const requested: { url: string; range: string | null }[] = [];
  const waits: number[] = [];
  const progress: LoadProgress[] = [];
  const store = new MemoryStore();
  const controller = new AbortController();
  const open = () =>
    openModelFiles(source, {
      fetch: async (url, { headers }) => {
        const range = (headers as Record<string, string> | undefined)?.range ?? null;
        controller.signal.throwIfAborted();
        const count = requested.filter((earlier) => earlier.url === url).length;
        requested.push({ url, range });
        return (await answers[url]?.({ range, count })) ?? new Response('not here', { status: 404 });
      },
      store,
      cache,
      onProgress: (step) => progress.push(step),
      signal: controller.signal,
      network: {
        wait: async (milliseconds) => void waits.push(milliseconds),
        isOffline: () => false,
        stallMilliseconds: 5000,
      },
    });
  const urls = () => requested.map(({ url }) => url);
  return { answers, requested, urls, waits, progress, store, controller, open, files: open() };
}

/** A repository with these files, each answered whole unless `answers` says otherwise. */
function setUpHub(
  files: Record<string, Uint8Array<ArrayBuffer>>,
  answers: Record<string, Answer> = {},
  cache?: CacheChoice,
) {
  const whole = Object.entries(files).map(([name, bytes]) => [hubUrl(name), body(bytes)]);
  return setUp(
    hub,
    { [listUrl]: json(hubListing(Object.entries(files))), ...Object.fromEntries(whole), ...answers },
    cache,
  );
}

describe('model files', () => {
  it('come from below the folder, with their bytes counted', async () => {
    const { files, progress, urls, store } = setUp(folder, {
      [folderUrl('onnx/model.onnx')]: () =>
        new Response(new Uint8Array(1000), { headers: { 'content-length': '1000' } }),
    });
    expect(await files.bytes('onnx/model.onnx')).toHaveLength(1000);
    const all = { phase: 'download', file: 'onnx/model.onnx', loaded: 1000, total: 1000, received: 1000 };
    expect(progress.at(-1)).toEqual(all);
    expect(progress.find(({ file }) => file === 'onnx/model.onnx')!.loaded).toBe(0);
    expect(urls()).toEqual([folderUrl('tokenprism-manifest.json'), folderUrl('onnx/model.onnx')]);
    expect(store.files.size).toBe(0);
    expect(await files.kept()).toMatchObject({ revision: null, storage: { kept: false } });
  });

  it('of a list are fetched from the addresses there, and nowhere else', async () => {
    const listed: ModelSource = {
      kind: 'files',
      id: 'mine',
      files: { 'config.json': 'https://app.test/a.json' },
    };
    const { files, urls } = setUp(listed, { 'https://app.test/a.json': json({ a: 1 }) });
    expect(await files.json('config.json')).toEqual({ a: 1 });
    expect(await files.optionalBytes('toString')).toBeNull();
    await expect(files.bytes('tokenizer.json')).rejects.toThrow(/has no file tokenizer.json/);
    expect(urls()).toEqual(['https://app.test/a.json']);
  });

  it('that are given themselves are read, and nothing is asked of a network', async () => {
    const given = {
      id: 'mine',
      files: { 'config.json': new Blob(['{"a": 1}']), 'onnx/m.onnx': new Blob(['abc']) },
    };
    const { open, requested, progress } = setUp({ kind: 'files', ...given }, {});
    const files = open();
    expect(await files.json('config.json')).toEqual({ a: 1 });
    expect(new TextDecoder().decode(await files.bytes('onnx/m.onnx'))).toBe('abc');
    expect(await files.optionalBytes('tokenizer_config.json')).toBeNull();
    await expect(files.bytes('tokenizer.json')).rejects.toThrow('The model mine has no file tokenizer.json');
    expect(requested).toEqual([]);
    expect(progress.at(-1)).toMatchObject({ file: 'onnx/m.onnx', loaded: 3, total: 3 });
    expect((await files.kept()).storage).toBeNull();
  });

  it('that are not there are told from those that need not be', async () => {
    const { files } = setUp(folder, {});
    await expect(files.json('config.json')).rejects.toThrow(folderUrl('config.json'));
    await expect(files.json('config.json')).rejects.toThrow(ModelLoadError);
    expect(await files.optionalJson('generation_config.json')).toBeNull();
  });

  it('are not what a single-page server answers for any path', async () => {
    const { files } = setUp(folder, {
      [folderUrl('tokenprism-manifest.json')]: page,
      [folderUrl('config.json')]: page,
      [folderUrl('chat_template.jinja')]: page,
      [folderUrl('onnx/model.onnx')]: () => new Response('<html>'),
    });
    await expect(files.json('config.json')).rejects.toThrow(/has no file config.json .* a web page/);
    expect(await files.optionalText('chat_template.jinja')).toBeNull();
    await expect(files.bytes('onnx/model.onnx')).rejects.toThrow(/a web page/);
  });

  it('that can not be parsed, or are refused, give an error that says so', async () => {
    const { files, urls } = setUp(folder, {
      [folderUrl('config.json')]: () => new Response('{"a": '),
      [folderUrl('private')]: () => new Response('', { status: 403 }),
    });
    await expect(files.json('config.json')).rejects.toThrow(/config.json is not valid JSON/);
    await expect(files.bytes('private')).rejects.toThrow(/status 403/);
    expect(urls().filter((url) => url.endsWith('private'))).toHaveLength(1);
  });

  it('are aborted with the load', async () => {
    const { files, controller } = setUp(folder, {});
    controller.abort();
    await expect(files.bytes('config.json')).rejects.toThrow(RequestAbortedError);
  });
});

describe('a transfer that breaks off', () => {
  const whole = content(3000);
  const url = folderUrl('onnx/model.onnx');
  const cutAt = (length: number, headers: Record<string, string>) =>
    broken(whole.slice(0, length), { headers: { 'content-length': '3000', ...headers } });

  it('goes on from where it was, if the server names the version', async () => {
    const headers = { etag: '"a"' };
    const { files, requested, waits } = setUp(folder, {
      [url]: ({ range, count }) => (count === 0 ? cutAt(1200, headers) : part(whole, range, headers)),
    });
    expect(await files.bytes('onnx/model.onnx')).toEqual(whole);
    expect(requested.slice(1)).toEqual([
      { url, range: null },
      { url, range: 'bytes=1200-' },
    ]);
    expect(waits).toHaveLength(1);
  });

  it('begins anew where nobody knows whether the rest belongs to it', async () => {
    const { files, requested } = setUp(folder, {
      [url]: ({ range, count }) => (count === 0 ? cutAt(1200, {}) : part(whole, range)),
    });
    expect(await files.bytes('onnx/model.onnx')).toEqual(whole);
    expect(requested.at(-1)).toEqual({ url, range: null });
  });

  it('begins anew where the file was changed meanwhile', async () => {
    const other = Uint8Array.from(whole, (byte) => byte ^ 1);
    const { files } = setUp(folder, {
      [url]: ({ range, count }) =>
        count === 0 ? cutAt(1200, { etag: '"a"' }) : part(other, range, { etag: '"b"' }),
    });
    expect(await files.bytes('onnx/model.onnx')).toEqual(other);
  });

  it('takes the whole where the server knows no ranges', async () => {
    const headers = { etag: '"a"' };
    const { files } = setUp(folder, {
      [url]: ({ count }) => (count === 0 ? cutAt(1200, headers) : new Response(whole, { headers })),
    });
    expect(await files.bytes('onnx/model.onnx')).toEqual(whole);
  });

  it('takes no other part than the one it asked for', async () => {
    const headers = { etag: '"a"' };
    const wrong = () =>
      new Response(whole.slice(100), {
        status: 206,
        headers: { ...headers, 'content-range': 'bytes 100-2999/3000' },
      });
    const { files } = setUp(folder, {
      [url]: ({ range, count }) =>
        count === 0 ? cutAt(1200, headers) : count === 1 ? wrong() : part(whole, range, headers),
    });
    expect(await files.bytes('onnx/model.onnx')).toEqual(whole);
  });

  it('is tried again as often as may help, and then is an error that names the reason', async () => {
    const { files, urls, waits } = setUp(folder, {
      [url]: () => Promise.reject(new TypeError('Failed to fetch')),
      [folderUrl('short')]: () => new Response(new Uint8Array(10), { headers: { 'content-length': '20' } }),
    });
    await expect(files.bytes('onnx/model.onnx')).rejects.toThrow(
      /model.onnx could not be downloaded \(5 tries\): Failed to fetch/,
    );
    expect(urls().filter((requested) => requested === url)).toHaveLength(5);
    expect(waits).toHaveLength(4);
    await expect(files.bytes('short')).rejects.toMatchObject({ code: 'download_incomplete' });
  });

  it('waits as long as the server asks, but not for ever', async () => {
    const busy = (seconds: number) =>
      new Response('', { status: 503, headers: { 'retry-after': String(seconds) } });
    const { files, waits } = setUp(folder, {
      [url]: ({ range, count }) => (count === 0 ? busy(7) : part(whole, range)),
      [folderUrl('closed')]: () => busy(3600),
    });
    expect(await files.bytes('onnx/model.onnx')).toEqual(whole);
    expect(waits).toEqual([7000]);
    await expect(files.bytes('closed')).rejects.toThrow(/the wait is too long.*status 503/);
    expect(waits).toHaveLength(1);
  });
});

describe('files of the Hub', () => {
  const config = new TextEncoder().encode('{"a":1}');

  it('are kept: the second load needs no network', async () => {
    const setting = setUpHub({ 'config.json': config, 'onnx/b': content(3) });
    const load = async () => {
      const files = setting.open();
      return [
        await files.json('config.json'),
        await files.optionalText('chat_template.jinja'),
        [...(await files.firstOf(['onnx/a', 'onnx/b']))!.bytes],
        await files.kept(),
      ];
    };
    const first = await load();
    const storage = { kept: true, reason: null, persistent: null };
    expect(first).toEqual([{ a: 1 }, null, [...content(3)], { revision: hubCommit, storage }]);
    expect(setting.urls()).toEqual([listUrl, hubUrl('config.json'), hubUrl('onnx/b')]);
    for (const url of Object.keys(setting.answers)) delete setting.answers[url];
    expect(await load()).toEqual(first);
    expect(setting.requested).toHaveLength(3);
    for (const persistent of [true, false]) {
      setting.store.isPersistent = persistent;
      expect((await load())[3]).toMatchObject({ storage: { persistent } });
    }
  });

  it('that are not what was listed are not kept: the next load can succeed', async () => {
    const setting = setUpHub({ 'onnx/a': content(9) }, { [hubUrl('onnx/a')]: body(new Uint8Array(9)) });
    await expect(setting.files.bytes('onnx/a')).rejects.toMatchObject({ code: 'file_changed' });
    expect([...setting.store.files.keys()]).toEqual([]);
    setting.answers[hubUrl('onnx/a')] = body(content(9));
    expect(await setting.open().bytes('onnx/a')).toEqual(content(9));
  });

  it('that are damaged in the store are fetched again', async () => {
    const setting = setUpHub({ 'onnx/a': content(9) });
    await setting.files.bytes('onnx/a');
    const [name] = setting.store.files.keys();
    for (const damaged of [content(8), content(10), new Uint8Array(9)]) {
      setting.store.files.set(name!, damaged);
      setting.requested.length = 0;
      expect(await setting.open().bytes('onnx/a')).toEqual(content(9));
      expect(setting.urls()).toEqual([hubUrl('onnx/a')]);
      expect(await setting.open().bytes('onnx/a')).toEqual(content(9));
      expect(setting.requested).toHaveLength(1);
    }
  });

  it('of which a part came before the tab was closed go on behind it', async () => {
    const whole = content(5000);
    const setting = setUpHub({ 'onnx/a': whole }, { [hubUrl('onnx/a')]: ({ range }) => part(whole, range) });
    await setting.files.bytes('onnx/a');
    const [name] = setting.store.files.keys();
    setting.store.files.set(name!, whole.slice(0, 2000));
    await setting.store.removeRecord(name!);
    setting.requested.length = 0;
    expect(await setting.open().bytes('onnx/a')).toEqual(whole);
    expect(setting.requested).toEqual([{ url: hubUrl('onnx/a'), range: 'bytes=2000-' }]);
    const last = setting.progress.at(-1);
    expect(last).toMatchObject({ loaded: 5000, total: 5000, received: 3000 });
  });

  it('load also where there is no room, unless they have to be kept', async () => {
    for (const full of [{ room: 4 }, { says: { used: 96, quota: 100 } }]) {
      const setting = setUpHub({ 'onnx/a': content(9) });
      Object.assign(setting.store, full);
      expect(await setting.files.bytes('onnx/a')).toEqual(content(9));
      const { storage } = await setting.files.kept();
      expect(storage).toMatchObject({ kept: false, reason: expect.stringMatching(/onnx\/a/) });
      expect(setting.store.files.size).toBe(0);
      const held = setUpHub({ 'onnx/a': content(9) }, {}, 'required');
      Object.assign(held.store, full);
      await expect(held.files.bytes('onnx/a')).rejects.toThrow(StorageQuotaError);
    }
    const held = setUpHub({ 'onnx/a': content(9) }, {}, 'required');
    held.store.says = { used: 96, quota: 100 };
    await expect(held.files.bytes('onnx/a')).rejects.toMatchObject({ bytes: { needed: 9, available: 4 } });
  });

  it('are not kept where the option says so', async () => {
    const setting = setUpHub({ 'onnx/a': content(9) }, {}, 'none');
    expect(await setting.files.bytes('onnx/a')).toEqual(content(9));
    expect(setting.store.files.size + setting.store.records.size).toBe(0);
  });

  it('of a repository that is not there are an error that names it', async () => {
    const { files } = setUp(hub, {});
    await expect(files.bytes('onnx/a')).rejects.toThrow(/no repository owner\/model with a revision main/);
  });

  it('without a network take the stored choice instead of the better one', async () => {
    const setting = setUpHub({ 'onnx/a': content(5), 'onnx/b': content(2) });
    await setting.files.bytes('onnx/b');
    setting.answers[hubUrl('onnx/a')] = () => Promise.reject(new TypeError('Failed to fetch'));
    expect((await setting.open().firstOf(['onnx/a', 'onnx/b']))!.name).toBe('onnx/b');
    setting.store.files.clear();
    setting.answers[hubUrl('onnx/b')] = setting.answers[hubUrl('onnx/a')]!;
    await expect(setting.open().firstOf(['onnx/a', 'onnx/b'])).rejects.toThrow(/could not be downloaded/);
  });
});

describe('a folder with a manifest', () => {
  const whole = content(700);
  const manifest = (bytes: Uint8Array) => ({
    version: 1,
    files: {
      'onnx/a': { size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') },
    },
  });
  const manifestUrl = folderUrl('tokenprism-manifest.json');

  it('is verified and kept, and a new version replaces the old one', async () => {
    const setting = setUp(folder, {
      [manifestUrl]: json(manifest(whole)),
      [folderUrl('onnx/a')]: body(whole),
    });
    expect(await setting.files.bytes('onnx/a')).toEqual(whole);
    setting.answers[folderUrl('onnx/a')] = () => Promise.reject(new TypeError('Failed to fetch'));
    expect(await setting.open().bytes('onnx/a')).toEqual(whole);
    const next = content(900);
    setting.answers[manifestUrl] = json(manifest(next));
    setting.answers[folderUrl('onnx/a')] = body(next);
    expect(await setting.open().bytes('onnx/a')).toEqual(next);
    expect([...setting.store.files.values()].map(({ length }) => length)).toEqual([900]);
  });

  it('that is damaged says how to make it anew', async () => {
    for (const wrong of [{}, { version: 1 }, { version: 1, files: { a: { size: -1 } } }]) {
      const { files } = setUp(folder, { [manifestUrl]: json(wrong) });
      await expect(files.bytes('onnx/a')).rejects.toMatchObject({ code: 'manifest_invalid' });
    }
  });
});
