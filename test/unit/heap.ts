/** What is kept in memory, for tests of what must not grow. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes on the heap that are still in use. */
export function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
