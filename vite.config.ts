import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin, type UserConfig } from 'vite';
import { contentSecurityPolicy, servedPolicy } from './demo/vite/policy.ts';
import { serviceWorker } from './demo/vite/service-worker.ts';
import { bundledLicences } from './scripts/bundled-licences.ts';
import { declarations } from './scripts/declarations.ts';
import { serviceWorkerScript } from './scripts/service-worker-script.ts';
import { xgrammar } from './scripts/xgrammar.mjs';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** What holds for every way of building and serving. */
const common: UserConfig = {
  // Relative, so that a build works in any folder of any site.
  base: './',
  publicDir: false,
  cacheDir: path('node_modules/.vite'),
  // For workers that are served; those that are built have their own list.
  plugins: [xgrammar()],
  worker: {
    format: 'es',
    plugins: () => [xgrammar(), bundledLicences(path('NOTICE'))],
    // One file: bundlers of applications emit the worker as it is and would not follow it to its chunks.
    rolldownOptions: {
      output: { codeSplitting: false, minify: true, entryFileNames: 'assets/worker-[hash].js' },
    },
  },
  optimizeDeps: {
    // Named here, because finding them while a page runs would reload that page.
    noDiscovery: true,
    include: [
      '@huggingface/transformers',
      '@huggingface/jinja',
      'onnxruntime-web/webgpu',
      // Of `npm run ask -- --client ai-sdk`.
      'ai',
      '@ai-sdk/openai-compatible',
      // Of the demo: the one that is no module.
      'highlight.js/lib/core',
      'highlight.js/lib/languages/*',
    ],
  },
  server: {
    // Reachable as localhost, which is a secure context and so has WebGPU, and from nowhere else.
    host: '127.0.0.1',
    fs: { allow: [path('.')] },
    watch: { ignored: ['**/dist/**', '**/dist-demo/**', '**/test-results/**', '**/playwright-report/**'] },
  },
  preview: { host: '127.0.0.1' },
};

/**
 * Vite wraps dynamic imports in a function that fetches what they need ahead of them. Here they need nothing, and the
 * application's own Vite wraps them again: the function only calls. Its name is another than the application's, which
 * stands in the same module; it is as long, so that source maps stay right.
 */
const noPreload: Plugin = {
  name: 'tokenprism:no-preload',
  enforce: 'pre',
  load(id) {
    return id === '\0vite/preload-helper.js' ? 'export const __vitePreload = (load) => load();' : null;
  },
  generateBundle: {
    order: 'post',
    handler(_options, bundle) {
      for (const output of Object.values(bundle)) {
        if (output.type === 'chunk') output.code = output.code.replaceAll('__vitePreload', 'preloadModule');
      }
    },
  },
};

/**
 * The formats and what only they use, in one file that comes when a model is known: recognising a model's format asks
 * every one of them, and some fifty small files would be asked for one by one. What the registry itself imports must
 * not be among them: it would bring them all at once.
 */
const lazyModules =
  /\/src\/(?:formats\/(?!index\.|template-text\.)|parser\/(?:coercion|delimited|elements|json-|parameters|python-))/;

/**
 * The package: `dist/index.js`, the other entries and `tokenprism-sw.js`, workers, wasm and model files beside them,
 * declarations.
 */
const library: UserConfig = {
  build: {
    outDir: path('dist'),
    // An application's bundler does it; until then the code can be read.
    minify: false,
    target: 'es2022',
    sourcemap: true,
    modulePreload: false,
    assetsInlineLimit: 0,
    // Not Vite's library mode, which inlines every asset as a data URL.
    rolldownOptions: {
      input: {
        index: path('src/index.ts'),
        remote: path('src/remote/index.ts'),
        'service-worker': path('src/service-worker/index.ts'),
        'service-worker-handler': path('src/service-worker/handler.ts'),
        testing: path('src/testing/index.ts'),
        playwright: path('src/testing/playwright/index.ts'),
      },
      // Of the entry for Playwright, which runs in Node.
      external: [/^node:/, '@playwright/test'],
      // The group below needs it; the entries export what they declare all the same.
      preserveEntrySignatures: 'allow-extension',
      output: {
        format: 'es',
        entryFileNames: '[name].js',
        chunkFileNames: 'chunks/[name]-[hash].js',
        assetFileNames: 'assets/[name]-[hash][extname]',
        codeSplitting: {
          groups: [{ name: 'formats', test: lazyModules, includeDependenciesRecursively: false }],
        },
      },
    },
  },
  plugins: [
    noPreload,
    bundledLicences(path('NOTICE')),
    serviceWorkerScript(path('src/service-worker/script.ts')),
    declarations({ root: path('.'), outDir: path('dist/types') }),
  ],
};

const demo: UserConfig = {
  root: path('demo'),
  publicDir: path('demo/public'),
  build: { outDir: path('dist-demo'), emptyOutDir: true, target: 'es2022', assetsInlineLimit: 0 },
  plugins: [
    contentSecurityPolicy(),
    servedPolicy(),
    serviceWorker({
      source: path('demo/offline/service-worker.js'),
      publicFolder: path('demo/public'),
    }),
  ],
};

/**
 * `vite build` makes the package, `vite build --mode demo` the demo; `vite` serves the demo from its sources.
 * With `--mode sources` the whole repository is served, which is what the browser tests and `npm run ask` use.
 */
export default defineConfig(({ command, mode }) => {
  if (mode === 'sources') return { ...common, root: path('.'), appType: 'mpa' };
  const isLibrary = command === 'build' && mode !== 'demo';
  const { plugins = [], ...rest } = isLibrary ? library : demo;
  return { ...common, ...rest, plugins: isLibrary ? plugins : [...common.plugins!, ...plugins] };
});
