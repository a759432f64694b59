/**
 * What browser tests find on the page: `window.tokenprism`, the library and its testing entry, and
 * `window.startWorker`. The library is imported dynamically so that a broken module becomes a message instead of a
 * page that never gets ready.
 */
type Tokenprism = typeof import('../../../src/index.ts') & typeof import('../../../src/testing/index.ts');

declare global {
  interface Window {
    tokenprism: Tokenprism;
    /** Settles when `tokenprism` is there or could not be loaded. */
    tokenprismReady: Promise<void>;
    /** A worker as the engine starts one, for tests that speak the protocol themselves. */
    startWorker: () => Worker;
    /** V8's collector; Chromium is started with it exposed. */
    gc: () => void;
  }
}

window.startWorker = () =>
  new Worker(new URL('../../../worker/main.ts', import.meta.url), { type: 'module' });

async function load(): Promise<void> {
  if (location.search === '?without-library') return;
  const [library, testing] = await Promise.all([
    import('../../../src/index.ts'),
    import('../../../src/testing/index.ts'),
  ]);
  window.tokenprism = { ...library, ...testing };
}

window.tokenprismReady = load();
// The fixture awaits it; a test that opens the page itself must not fail by an unhandled rejection.
window.tokenprismReady.catch(() => {});
