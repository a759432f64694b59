import { ServiceWorkerError } from '../errors.ts';
import { type HelloMessage, helloType, replaceType, type Welcome } from './messages.ts';
import type { CheckedServiceOptions } from './options.ts';

/** Milliseconds that a service worker may take to answer. */
const patience = 15_000;
const patienceWithOld = 5000;

/** A service worker that takes this page's requests. */
export interface Controlled {
  registration: ServiceWorkerRegistration;
  /** The page's, as service workers know it. */
  clientId: string;
}

/**
 * Registers the service worker, and has it take this page under control. Rejects with a `ServiceWorkerError` that says
 * what is in the way.
 */
export async function control(options: CheckedServiceOptions): Promise<Controlled> {
  const container = navigator.serviceWorker as ServiceWorkerContainer | undefined;
  if (!container || !navigator.locks) {
    throw failed(
      'unsupported',
      'This page has no service workers or no Web Locks: serve it over https or from localhost, and not from a private ' +
        'window of a browser that has none there.',
    );
  }
  const registration = options.registration ?? (await register(container, options.script));
  if (!location.href.startsWith(registration.scope)) {
    throw failed(
      'out_of_scope',
      `The service worker sees the pages below ${registration.scope}, and this page is not one of them: serve its ` +
        'script from the root of the site.',
    );
  }
  const { clientId } = await greet(registration, options);
  await within(controlledBy(container, registration), () =>
    failed('not_controlled', 'The service worker does not get this page under control; load the page again.'),
  );
  return { registration, clientId };
}

async function register(
  container: ServiceWorkerContainer,
  script: string,
): Promise<ServiceWorkerRegistration> {
  try {
    return await container.register(script);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw failed(
      'registration_failed',
      `The service worker ${script} could not be registered (${why}). The site must serve tokenprism-sw.js of the ` +
        "package's dist folder there, or 'scriptURL' must say where it is.",
      cause,
    );
  }
}

/**
 * Says hello to the registration's service worker. One of another address or another version of this package, which old
 * tabs still have, is replaced by the one that was registered now.
 */
async function greet(
  registration: ServiceWorkerRegistration,
  { registration: own, script, basePath }: CheckedServiceOptions,
): Promise<Welcome> {
  const { active } = registration;
  const isExpected = active && (own !== null || active.scriptURL === script);
  const greeting = isExpected ? hello(active, basePath) : null;
  if (greeting && (own || (await isThere(greeting)))) return noAnswer(greeting, active!.scriptURL, basePath);
  const newer = registration.waiting ?? registration.installing ?? active;
  if (!newer)
    throw failed('not_registered', "The 'registration' has no service worker: it was unregistered.");
  await within(reached(newer, 'installed'), () => notActivated(newer));
  if (!own && newer.state === 'installed') newer.postMessage(replaceType);
  await within(reached(newer, 'activated'), () => notActivated(newer));
  return noAnswer(hello(newer, basePath), newer.scriptURL, basePath);
}

const states: readonly ServiceWorkerState[] = [
  'parsed',
  'installing',
  'installed',
  'activating',
  'activated',
];

/** Resolves when the worker is in the state, or beyond it. */
function reached(worker: ServiceWorker, state: ServiceWorkerState): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = () => {
      if (worker.state === 'redundant') reject(notActivated(worker));
      else if (states.indexOf(worker.state) >= states.indexOf(state)) resolve();
    };
    worker.addEventListener('statechange', look);
    look();
  });
}

function notActivated({ scriptURL, state }: ServiceWorker): ServiceWorkerError {
  return failed('not_activated', `The service worker ${scriptURL} does not get to work; it is ${state}.`);
}

function hello(worker: ServiceWorker, basePath: string): Promise<Welcome> {
  const { port1, port2 } = new MessageChannel();
  worker.postMessage({ type: helloType, basePath } satisfies HelloMessage, [port2]);
  return new Promise((resolve) => {
    port1.onmessage = ({ data }) => resolve(data);
  });
}

/** Whether the one that is at work answers; one of another version does not. */
async function isThere(greeting: Promise<Welcome>): Promise<boolean> {
  return within(greeting, () => failed('no_answer', ''), patienceWithOld).then(
    () => true,
    () => false,
  );
}

function noAnswer(greeting: Promise<Welcome>, scriptURL: string, basePath: string): Promise<Welcome> {
  return within(greeting, () =>
    failed(
      'no_answer',
      `The service worker ${scriptURL} does not answer for ${basePath}: it must call createHandler({ basePath }) of ` +
        "this version of the package with the same base path, and give the handler its 'fetch' and 'message' events.",
    ),
  );
}

/** Resolves when the page's requests go to the registration's service worker. */
function controlledBy(
  container: ServiceWorkerContainer,
  registration: ServiceWorkerRegistration,
): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!container.controller || container.controller !== registration.active) return;
      container.removeEventListener('controllerchange', look);
      resolve();
    };
    container.addEventListener('controllerchange', look);
    look();
  });
}

async function within<Value>(
  promise: Promise<Value>,
  error: () => Error,
  milliseconds = patience,
): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(error()), milliseconds);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function failed(code: string, message: string, cause?: unknown): ServiceWorkerError {
  return new ServiceWorkerError(message, { code, cause });
}
