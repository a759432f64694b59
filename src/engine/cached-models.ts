import { modelCacheName } from '../protocol.ts';

/**
 * Deletes what is kept of models of the Hub on this origin; the next load downloads again. Engines that are loaded go on.
 *
 * @returns whether there was anything
 */
export async function deleteCachedModels(): Promise<boolean> {
  // Not there outside of secure contexts.
  return typeof caches === 'undefined' ? false : caches.delete(modelCacheName);
}
