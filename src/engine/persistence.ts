/**
 * Asks the browser not to evict by itself what this origin keeps. Some decide by how the site is used, others ask the
 * user; a refusal is an answer, and no error.
 *
 * @returns `null` where there is nobody to ask: in workers, and without a secure context
 */
export async function askToPersist(): Promise<boolean | null> {
  const storage = (globalThis.navigator as Partial<Navigator> | undefined)?.storage;
  if (typeof storage?.persist !== 'function') return null;
  try {
    return await storage.persist();
  } catch {
    return false;
  }
}
