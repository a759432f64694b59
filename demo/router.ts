import { computed, signal } from '@preact/signals';
import { hashOf, type PageName, readRoute } from './routes.ts';

export { hashOf, type PageName, pageNames } from './routes.ts';

const hash = signal(location.hash);
addEventListener('hashchange', () => {
  hash.value = location.hash;
});

export const route = computed(() => readRoute(hash.value));

/** `replace`: without a step in the browser's history. */
export function go(page: PageName, rest = '', { replace = false } = {}): void {
  const next = hashOf(page, rest);
  if (next === location.hash) return;
  if (replace) history.replaceState(null, '', next);
  else history.pushState(null, '', next);
  hash.value = next;
}
