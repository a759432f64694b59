import { modelStorageName } from '../protocol.ts';

/**
 * Deletes what is kept of models on this origin; the next load downloads again. Engines that are loaded go on.
 *
 * @returns whether there was anything
 */
export async function deleteCachedModels(): Promise<boolean> {
  // Not there outside of secure contexts.
  const storage = (globalThis.navigator as Partial<Navigator> | undefined)?.storage;
  if (typeof storage?.getDirectory !== 'function') return false;
  const root = await storage.getDirectory();
  try {
    await root.removeEntry(modelStorageName, { recursive: true });
    return true;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'NotFoundError') return false;
    throw error;
  }
}
