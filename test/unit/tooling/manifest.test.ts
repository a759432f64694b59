import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openModelFiles } from '../../../worker/cache/files.ts';
import { MemoryStore } from '../worker/memory-store.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const url = 'https://app.test/tiny/';
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tokenprism-manifest-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const run = (...given: string[]) =>
  spawnSync(process.execPath, [join(root, 'scripts/manifest.mjs'), ...given], { encoding: 'utf8' });

/** The folder as a server has it. */
const openFolder = (store: MemoryStore) =>
  openModelFiles(
    { kind: 'folder', url },
    {
      fetch: async (requested) => new Response(readFileSync(join(folder, requested.slice(url.length)))),
      store,
      onProgress: () => {},
      signal: new AbortController().signal,
    },
  );

describe('npm run manifest', () => {
  it('writes what a load verifies a folder by', async () => {
    cpSync(join(root, 'models/tiny'), folder, { recursive: true });
    const { status, stdout } = run(folder);
    expect(status).toBe(0);
    expect(stdout).toMatch(/tokenprism-manifest.json: \d+ files/);
    const first = readFileSync(join(folder, 'tokenprism-manifest.json'), 'utf8');
    const names = Object.keys(JSON.parse(first).files);
    expect(names).toEqual(expect.arrayContaining(['config.json', 'onnx/model_q4.onnx']));
    // The manifest itself is none of the files.
    run(folder);
    expect(readFileSync(join(folder, 'tokenprism-manifest.json'), 'utf8')).toBe(first);

    const store = new MemoryStore();
    const files = openFolder(store);
    for (const name of names) await files.bytes(name);
    expect((await files.kept()).storage).toMatchObject({ kept: true, reason: null });
    const changed = readFileSync(join(folder, 'config.json'));
    changed[changed.length - 1]! ^= 1;
    writeFileSync(join(folder, 'config.json'), changed);
    await expect(openFolder(new MemoryStore()).bytes('config.json')).rejects.toMatchObject({
      code: 'file_changed',
    });
  });

  it('says what it needs', () => {
    for (const [given, message] of [
      [[], /Usage/],
      [[join(folder, 'none')], /is not a folder/],
      [[folder], /has no config.json/],
    ] as const) {
      const { status, stderr } = run(...given);
      expect(status).toBe(1);
      expect(stderr).toMatch(message);
    }
  });
});
