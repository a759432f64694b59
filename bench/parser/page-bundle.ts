/** What a page pays for the library before it answers: the JavaScript that an application's bundle loads at once. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';

/** The most that the page's part may weigh, minified and compressed. */
export const PAGE_BUDGET_BYTES = 25_000;

export interface BundleSize {
  /** Bytes, minified. */
  minified: number;
  /** The same, each file compressed by gzip at its highest level. */
  gzip: number;
}

/**
 * Entry and all that it imports statically. Not: what is imported while a model loads (parser, formats, request
 * checks), the worker, model and WebAssembly files.
 */
export function pageBundleSize(output: readonly (Rolldown.OutputChunk | Rolldown.OutputAsset)[]): BundleSize {
  const chunks = new Map(
    output.flatMap((part) => (part.type === 'chunk' ? [[part.fileName, part] as const] : [])),
  );
  const loaded = new Set<string>();
  const load = (name: string) => {
    const chunk = chunks.get(name);
    if (!chunk || loaded.has(name)) return;
    loaded.add(name);
    for (const imported of chunk.imports) load(imported);
  };
  for (const { fileName, isEntry } of chunks.values()) if (isEntry) load(fileName);
  const size: BundleSize = { minified: 0, gzip: 0 };
  for (const name of loaded) {
    const { code } = chunks.get(name)!;
    size.minified += Buffer.byteLength(code);
    size.gzip += gzipSync(code, { level: 9 }).length;
  }
  return size;
}

/** Bundles an application that streams an answer, against the package as it is built, with Vite. */
export async function measurePageBundle(): Promise<BundleSize> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenprism-bundle-'));
  try {
    const configFile = fileURLToPath(new URL('../../vite.config.ts', import.meta.url));
    const dist = join(folder, 'package');
    await build({
      configFile,
      mode: 'production',
      logLevel: 'error',
      build: { outDir: dist, emptyOutDir: true },
    });
    // As the package says it: what nobody uses of its chunks is left out.
    await writeFile(join(dist, 'package.json'), JSON.stringify({ type: 'module', sideEffects: false }));
    const entry = join(folder, 'app.js');
    await writeFile(
      entry,
      `import { createEngine } from ${JSON.stringify(join(dist, 'index.js'))};
const engine = await createEngine();
const stream = await engine.chat.completions.create({ messages: [{ role: 'user', content: 'Hi' }], stream: true });
for await (const chunk of stream) console.log(chunk.choices[0]?.delta.content);
`,
    );
    const built = (await build({
      root: folder,
      configFile: false,
      logLevel: 'error',
      build: { write: false, target: 'es2022', rolldownOptions: { input: entry } },
    })) as Rolldown.RolldownOutput;
    return pageBundleSize(built.output);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
