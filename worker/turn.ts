/**
 * Resolves in a new turn of the event loop, after waiting messages were handled. A forward pass on WASM
 * resolves without leaving the current turn, so without this an `abort` would wait for the end of the answer.
 */
export const nextTurn: () => Promise<void> = createNextTurn();

/** Lets them go on in turn, each up to its next rest, until all have ended. With one that fails the others end. */
export async function takeTurns(parts: readonly AsyncGenerator<void, void>[]): Promise<void> {
  const open = [...parts];
  try {
    while (open.length > 0) {
      for (const part of [...open]) {
        if ((await part.next()).done) open.splice(open.indexOf(part), 1);
      }
    }
  } finally {
    for (const part of open) await part.return();
  }
}

function createNextTurn(): () => Promise<void> {
  if (typeof setImmediate === 'function') return () => new Promise((resolve) => setImmediate(resolve));
  // Timers are throttled to 4 ms when nested; messages are not.
  const channel = new MessageChannel();
  const waiting: (() => void)[] = [];
  channel.port1.onmessage = () => waiting.shift()?.();
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      channel.port2.postMessage(null);
    });
}
