import { signal } from '@preact/signals';

/** A new version of the app waits to be taken. */
export const updateReady = signal(false);
/** Everything that the app needs is kept: it starts without a network. */
export const offlineReady = signal(false);

let waiting: ServiceWorker | null = null;

/** Keeps the built app for use without a network. Sources that are served change as one works on them. */
export async function startOffline(): Promise<void> {
  if (import.meta.env.MODE !== 'demo' || !('serviceWorker' in navigator)) return;
  try {
    const registration = await navigator.serviceWorker.register(new URL('sw.js', document.baseURI));
    const offer = (worker: ServiceWorker | null) => {
      // The first one replaces nothing.
      if (!worker || !navigator.serviceWorker.controller) return;
      waiting = worker;
      updateReady.value = true;
    };
    offer(registration.waiting);
    registration.addEventListener('updatefound', () => {
      const found = registration.installing;
      found?.addEventListener('statechange', () => {
        if (found.state === 'installed') offer(found);
      });
    });
    await navigator.serviceWorker.ready;
    offlineReady.value = true;
  } catch (error) {
    console.warn('The app will not work without a network:', error);
  }
}

export function applyUpdate(): void {
  navigator.serviceWorker.addEventListener('controllerchange', () => location.reload(), { once: true });
  waiting?.postMessage({ type: 'take-over' });
}
