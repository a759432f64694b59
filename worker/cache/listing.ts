import { createSHA1 } from 'hash-wasm';
import { ModelLoadError } from '../../src/errors.ts';
import type { ModelSource } from '../../src/protocol.ts';
import { OpenEnded } from './assembly.ts';
import { type ContentId, contentId } from './digest.ts';
import { download, messageOf, type Network } from './download.ts';
import type { Keeper } from './keeper.ts';
import { forgetRecord, type KeptListing, keepRecord, keptRecord } from './listing-record.ts';

/** The name of a folder's manifest, which `npm run manifest` writes. */
export const manifestName = 'tokenprism-manifest.json';

/** A file, and what it must be; `content` is `null` where nobody says. */
export interface ListedFile {
  url: string;
  content: ContentId | null;
}

/** What is known of a model's files before any of them comes. */
export interface Listing {
  /** The commit of a Hub repository. */
  readonly revision: string | null;
  /** `null` where there is no such file. Without a list, any file may be there. */
  find(name: string): ListedFile | null;
  /** All names; `null` where nobody lists them. */
  readonly names: readonly string[] | null;
  /** The list was wrong: the next load asks anew. */
  forget(): Promise<void>;
}

/**
 * Finds out what files a model has, their sizes and digests. A list that is kept from an earlier load of a Hub repository
 * holds: a branch stays at the commit that it had then, until `deleteCachedModels()`.
 *
 * @throws ModelLoadError when there is no such repository, or the list can't be had or read
 */
export async function openListing(source: ModelSource, network: Network, keeper: Keeper): Promise<Listing> {
  switch (source.kind) {
    case 'files':
      return {
        revision: null,
        names: Object.keys(source.files),
        find: (name) =>
          Object.hasOwn(source.files, name) ? { url: addressOf(source, name), content: null } : null,
        forget: async () => {},
      };
    case 'folder':
      return folderListing(source.url.endsWith('/') ? source.url : `${source.url}/`, network, keeper);
    case 'hub':
      return hubListing(source, network, keeper);
  }
}

/** Where a single file is: a URL, or for one that is given itself a name that is no URL. */
export function addressOf({ id, files }: Extract<ModelSource, { kind: 'files' }>, name: string): string {
  const file = files[name]!;
  return typeof file === 'string' ? file : `${id}/${name}`;
}

async function folderListing(folder: string, network: Network, keeper: Keeper): Promise<Listing> {
  const urlOf = (name: string) => new URL(encodePath(name), folder).href;
  const manifestUrl = urlOf(manifestName);
  const record = await recordName(manifestUrl);
  let text: string | null = null;
  let kept: KeptListing | null = null;
  try {
    text = await fetchText(manifestUrl, network, 'no-cache');
  } catch (error) {
    if (network.signal.aborted) throw error;
    // Without a network, what the folder had last is better than nothing.
    kept = await keptRecord(keeper, record);
    const isRefused = error instanceof ModelLoadError && error.code === 'download_refused';
    if (!kept && !isRefused) throw error;
  }
  if (text !== null) {
    kept = { revision: null, files: manifestFiles(manifestUrl, text) };
    await keepRecord(keeper, record, kept);
  }
  if (kept) return keptListing(kept, urlOf, async () => {});
  return {
    revision: null,
    names: null,
    find: (name) => ({ url: urlOf(name), content: null }),
    forget: async () => {},
  };
}

async function hubListing(
  { repository, revision }: Extract<ModelSource, { kind: 'hub' }>,
  network: Network,
  keeper: Keeper,
): Promise<Listing> {
  const hub = 'https://huggingface.co';
  const url = `${hub}/api/models/${repository}/revision/${encodeURIComponent(revision)}?blobs=true`;
  const record = await recordName(url);
  let kept = await keptRecord(keeper, record);
  if (!kept) {
    const text = await fetchText(url, network, 'no-cache');
    if (text === null) {
      throw new ModelLoadError(
        `The Hub has no repository ${repository} with a revision ${revision} (${url}). Check both names.`,
        { code: 'file_not_found' },
      );
    }
    kept = hubFiles(url, text);
    await keepRecord(keeper, record, kept);
  }
  const commit = kept.revision!;
  const urlOf = (name: string) => `${hub}/${repository}/resolve/${commit}/${encodePath(name)}`;
  return keptListing(kept, urlOf, () => forgetRecord(keeper, record));
}

function keptListing(
  { revision, files }: KeptListing,
  urlOf: (name: string) => string,
  forget: () => Promise<void>,
): Listing {
  return {
    revision,
    names: [...files.keys()],
    find: (name) => (files.has(name) ? { url: urlOf(name), content: files.get(name)! } : null),
    forget,
  };
}

const encodePath = (name: string) => name.split('/').map(encodeURIComponent).join('/');

/** Of any address, however long. */
async function recordName(url: string): Promise<string> {
  return `listing-${(await createSHA1()).update(url).digest('hex')}`;
}

/** `null` where there is no such file, or a web page in its place. */
async function fetchText(url: string, network: Network, cache: RequestCache): Promise<string | null> {
  const target = new OpenEnded();
  const end = await download(
    { url, target, size: null, isVerified: false, cache, onBytes: () => {} },
    network,
  );
  return end === 'whole' ? new TextDecoder().decode(target.whole()) : null;
}

/** `{ "version": 1, "files": { "config.json": { "size": 1, "sha256": "…" } } }` */
function manifestFiles(url: string, text: string): KeptListing['files'] {
  const wrong = (what: string, cause?: unknown) =>
    new ModelLoadError(`${url} ${what}: write it again with "npm run manifest -- FOLDER", or delete it.`, {
      code: 'manifest_invalid',
      cause,
    });
  const manifest = parse(text, (cause) => wrong('is not valid JSON', cause));
  if (manifest.version !== 1) throw wrong('is no manifest of version 1');
  if (!isObject(manifest.files)) throw wrong('lists no files');
  const files: KeptListing['files'] = new Map();
  for (const [name, described] of Object.entries(manifest.files)) {
    const content = isObject(described) ? contentId(described.size, 'sha256', described.sha256) : null;
    if (!content) throw wrong(`has no size and SHA-256 of ${name}`);
    files.set(name, content);
  }
  return files;
}

/** What the Hub's interface says of a revision: its commit in `sha`, its files in `siblings`. */
function hubFiles(url: string, text: string): KeptListing {
  const wrong = (what: string, cause?: unknown) =>
    new ModelLoadError(`${url} ${what}: it is not what the Hub answers with.`, {
      code: 'file_invalid',
      cause,
    });
  const { sha, siblings } = parse(text, (cause) => wrong('is not valid JSON', cause));
  if (typeof sha !== 'string' || !/^[0-9a-f]{40}$/.test(sha)) throw wrong('names no commit');
  if (!Array.isArray(siblings)) throw wrong('lists no files');
  const files: KeptListing['files'] = new Map();
  for (const sibling of siblings as unknown[]) {
    if (!isObject(sibling) || typeof sibling.rfilename !== 'string')
      throw wrong('lists a file without a name');
    const { rfilename, lfs, size, blobId } = sibling;
    const content = isObject(lfs)
      ? contentId(lfs.size, 'sha256', lfs.sha256)
      : contentId(size, 'git-sha1', blobId);
    files.set(rfilename, content);
  }
  return { revision: sha, files };
}

function parse(text: string, wrong: (cause: unknown) => Error): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw wrong(messageOf(cause));
  }
  if (!isObject(value)) throw wrong('it is no object');
  return value;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
