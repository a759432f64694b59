/**
 * A whole service worker, for an application that has none, and for `importScripts` of one that has. The base path
 * comes as the query of its address, `?basePath=/chat/v1`, where it is not `/v1`.
 */
import { createHandler } from './handler.ts';
import { scope } from './scope.ts';

const basePath = new URLSearchParams(scope.location.search).get('basePath') ?? undefined;
const handler = createHandler({ basePath });
scope.addEventListener('fetch', (event) => void handler.handleFetch(event));
scope.addEventListener('message', (event) => void handler.handleMessage(event));
