import { type ContentId, contentId, contentName } from './digest.ts';
import type { Keeper } from './keeper.ts';
import type { FileStore } from './store.ts';

/** What a store keeps of a listing. */
export interface KeptListing {
  /** The commit of a Hub repository. */
  revision: string | null;
  /** By name; `null` where nobody says what the content is. */
  files: Map<string, ContentId | null>;
}

const prefix = 'listing-';

/** A listing of an earlier load; `null` where there is none that can be read. */
export async function keptRecord({ store }: Keeper, name: string): Promise<KeptListing | null> {
  // What can't be read is asked for again.
  const text = await store?.readRecord(name).catch(() => null);
  return text ? readListing(text) : null;
}

/** Keeps a listing in place of the one before it, whose files go where no other listing has them. */
export async function keepRecord(keeper: Keeper, name: string, listing: KeptListing): Promise<void> {
  const { store } = keeper;
  if (!store) return;
  await keeper.attempt('The list of the files', async () => {
    const before = await keptRecord(keeper, name);
    await store.writeRecord(name, writeListing(listing));
    if (before) await removeUnlisted(store, before);
  });
}

export async function forgetRecord({ store }: Keeper, name: string): Promise<void> {
  await store?.removeRecord(name).catch(() => {});
}

async function removeUnlisted(store: FileStore, { files }: KeptListing): Promise<void> {
  const unlisted = new Set<string>();
  for (const content of files.values()) if (content) unlisted.add(contentName(content));
  for (const name of await store.recordNames()) {
    if (!name.startsWith(prefix)) continue;
    const listing = readListing((await store.readRecord(name)) ?? '');
    for (const content of listing?.files.values() ?? []) if (content) unlisted.delete(contentName(content));
  }
  for (const name of unlisted) {
    await store.removeRecord(name);
    // Another tab may read it now: it stays until the next time.
    await store.remove(name).catch(() => {});
  }
}

function writeListing({ revision, files }: KeptListing): string {
  const rows = [...files].map(([name, content]) =>
    content ? [name, content.size, content.algorithm, content.digest] : [name],
  );
  return JSON.stringify({ revision, files: rows });
}

function readListing(text: string): KeptListing | null {
  try {
    const { revision, files } = JSON.parse(text) as { revision: string | null; files: unknown[][] };
    return {
      revision,
      files: new Map(
        files.map(([name, size, algorithm, digest]) => [
          name as string,
          contentId(size, algorithm as ContentId['algorithm'], digest),
        ]),
      ),
    };
  } catch {
    return null;
  }
}
