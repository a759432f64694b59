/** A service worker of an application's own, with the handler among what else it does. */
import { createHandler } from '../../../src/service-worker/handler.ts';
import { scope } from '../../../src/service-worker/scope.ts';

const engine = createHandler();
scope.addEventListener('fetch', (event) => {
  if (engine.handleFetch(event)) return;
  if (event.request.url.endsWith('/own')) event.respondWith(Promise.resolve(new Response('own')));
});
scope.addEventListener('message', (event) => void engine.handleMessage(event));
