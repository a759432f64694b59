/** Web Locks as signs of life: whoever holds one is there. Needs a secure context. */

/** A lock that is held. */
export interface HeldLock {
  release(): void;
}

/** Holds a lock that nobody else wants. Resolves when it is held. */
export function hold(name: string): Promise<HeldLock> {
  return new Promise((resolve, reject) => {
    navigator.locks.request(name, () => new Promise<void>((release) => resolve({ release }))).catch(reject);
  });
}

/** Resolves with `true` when nobody holds the lock any more, with `false` on an abort of `signal`. */
export function whenReleased(name: string, signal: AbortSignal): Promise<boolean> {
  return navigator.locks.request(name, { mode: 'shared', signal }, () => true).catch(() => false);
}
