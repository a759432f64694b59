/** The engine on the page's own origin, one for all tabs: `tokenprism/service-worker`. */

export type { ServedEngine } from '../shared-engine/engine-server.ts';
export type { EngineHost, ServiceOptions } from './options.ts';
export { type EngineService, serveFromServiceWorker } from './serve.ts';
