/**
 * Keeps all files of one version of the app, the model and its runtime included, and answers from there. A new version
 * is fetched whole beside the old one, and waits until the page says that it may take over.
 */
const version = 'BUILD_VERSION';
/** Relative to this file. */
const files = 'BUILD_FILES';

const prefix = 'tokenprism-demo-';
const cacheName = prefix + version;
const scope = new URL('./', self.location.href);
const kept = new Set(files.map((file) => new URL(file, scope).href));
const page = new URL('index.html', scope).href;

self.addEventListener('install', (event) => event.waitUntil(keep()));

async function keep() {
  const cache = await caches.open(cacheName);
  // Names with a hash never change; others may lie in the browser's own cache from before.
  const isHashed = (url) => /-[\w-]{8}\.\w+$/.test(url);
  await cache.addAll(
    [...kept].map((url) => new Request(url, { cache: isHashed(url) ? 'default' : 'no-cache' })),
  );
}

self.addEventListener('activate', (event) => event.waitUntil(takeOver()));

async function takeOver() {
  const names = await caches.keys();
  await Promise.all(
    names.filter((name) => name.startsWith(prefix) && name !== cacheName).map((name) => caches.delete(name)),
  );
  await self.clients.claim();
}

self.addEventListener('message', (event) => {
  if (event.data?.type === 'take-over') self.skipWaiting();
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET') return;
  const url = new URL(request.url);
  url.search = '';
  url.hash = '';
  const isPage = request.mode === 'navigate' && (url.href === scope.href || url.href === page);
  const wanted = isPage ? page : url.href;
  if (!kept.has(wanted)) return;
  event.respondWith(answer(wanted, request));
});

async function answer(url, request) {
  const cache = await caches.open(cacheName);
  return (await cache.match(url)) ?? fetch(request);
}
