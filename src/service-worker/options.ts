import { type CheckedOptions, checkOptions, type EngineOptions } from '../engine/options.ts';
import { BadRequestError } from '../errors.ts';
import type { ServedEngine } from '../shared-engine/engine-server.ts';
import { checkBasePath } from './base-path.ts';

/** Where the engine may run: in a shared worker, or in one of the tabs. */
export type EngineHost = 'auto' | 'shared-worker' | 'tab';

export interface ServiceOptions {
  /**
   * The options of `createEngine`, or a function that makes an engine, which may be a remote or a hybrid one; it is
   * called in the tab whose turn it is, and its signal aborts when the service is closed meanwhile. Unset: the embedded
   * demonstration model.
   */
  engine?:
    | Omit<EngineOptions, 'signal'>
    | ((options: { signal: AbortSignal }) => ServedEngine | Promise<ServedEngine>);
  /**
   * Address of the service worker. Default `/tokenprism-sw.js`: the file of that name in the package's `dist`, which
   * the site must serve there, as a service worker sees the pages below its own folder only.
   */
  scriptURL?: string;
  /** A service worker of your own, which calls `createHandler`; in place of `scriptURL`. */
  registration?: ServiceWorkerRegistration;
  /** The path that the routes stand below. Default `/v1`. */
  basePath?: string;
  /**
   * Default `auto`: a shared worker where it has WebGPU on a real GPU and the model is to run there, else the tab that
   * came first.
   */
  host?: EngineHost;
}

/** Options that were checked. */
export interface CheckedServiceOptions {
  engine: CheckedOptions | ((options: { signal: AbortSignal }) => ServedEngine | Promise<ServedEngine>);
  script: string;
  registration: ServiceWorkerRegistration | null;
  basePath: string;
  /** `tab` where the engine can't be sent to a shared worker. */
  host: EngineHost;
}

const hosts: readonly EngineHost[] = ['auto', 'shared-worker', 'tab'];
const known = ['engine', 'scriptURL', 'registration', 'basePath', 'host'];

/** Throws a `BadRequestError` that names the option and what it may be. */
export function checkServiceOptions(options: ServiceOptions): CheckedServiceOptions {
  for (const name of Object.keys(options)) {
    if (!known.includes(name))
      throw bad(name, `serveFromServiceWorker has no option '${name}'; it has ${known.join(', ')}.`);
  }
  const { engine = {}, scriptURL, registration = null, host = 'auto' } = options;
  if (scriptURL !== undefined && typeof scriptURL !== 'string')
    throw bad('scriptURL', `'scriptURL' must be a string; got ${typeof scriptURL}.`);
  if (registration !== null && scriptURL !== undefined)
    throw bad('registration', "'registration' and 'scriptURL' exclude each other: give one of both.");
  if (!hosts.includes(host))
    throw bad('host', `'host' must be one of ${hosts.join(', ')}; got ${JSON.stringify(host)}.`);
  const basePath = checkBasePath(options.basePath);
  const checked = {
    script: scriptOf(scriptURL ?? '/tokenprism-sw.js', basePath),
    registration,
    basePath,
    host,
  };
  if (typeof engine === 'function') {
    if (host === 'shared-worker')
      throw bad(
        'host',
        "A function can't be sent to a shared worker: give 'engine' as options, or host 'tab'.",
      );
    return { ...checked, host: 'tab', engine };
  }
  if ('signal' in engine)
    throw bad('engine.signal', "Instead of 'engine.signal', call close() of the service.");
  if (engine.worker && host === 'shared-worker')
    throw bad(
      'engine.worker',
      "A shared worker runs the model itself: leave 'engine.worker' out, or give host 'tab'.",
    );
  return { ...checked, ...(engine.worker && { host: 'tab' }), engine: checkOptions(engine) };
}

/** The base path goes with the script's address; its default does not, so that the address is the plain one. */
function scriptOf(scriptURL: string, basePath: string): string {
  const url = new URL(scriptURL, document.baseURI);
  if (basePath !== '/v1') url.searchParams.set('basePath', basePath);
  return url.href;
}

function bad(param: string, message: string): BadRequestError {
  return new BadRequestError(message, { param, code: 'invalid_value' });
}
