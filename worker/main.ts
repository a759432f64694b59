import { serializeError, WorkerError } from '../src/errors.ts';
import { hold } from '../src/locks.ts';
import type { FromWorker, ToWorker } from '../src/protocol.ts';
import { startService } from './start.ts';

/** What a dedicated worker's global has, without the DOM library's idea that it is a window. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  onmessageerror: (() => void) | null;
  postMessage(message: FromWorker): void;
}

const scope = self as unknown as WorkerScope;

const service = startService((message) => scope.postMessage(message));

// Without a secure context there are no locks, and nothing tells the page of a worker that was ended from outside.
if (navigator.locks) {
  const lock = `tokenprism worker ${crypto.randomUUID()}`;
  void hold(lock).then(() => scope.postMessage({ type: 'alive', lock }));
}

scope.onmessage = (event) => service.receive(event.data);
scope.onmessageerror = () => {
  const error = serializeError(new WorkerError('A message to the worker could not be read.'));
  scope.postMessage({ type: 'failed', request: null, error });
};
