import { createSHA1, createSHA256 } from 'hash-wasm';

/** What the content of a file must be: its length in bytes and its digest in lower-case hexadecimal. */
export interface ContentId {
  size: number;
  /** `git-sha1`: of a file as Git stores it, which is what the Hub says of files that are not in LFS. */
  algorithm: 'sha256' | 'git-sha1';
  digest: string;
}

/** Takes a file bit by bit, so that it need not be in memory as a whole a second time. */
export interface ContentHasher {
  update(bytes: Uint8Array): void;
  /** Lower-case hexadecimal; nothing can be added after it. */
  digest(): string;
  /** Begins anew. */
  reset(): void;
}

/** A hasher of the algorithm of `content`, with nothing taken yet. */
export async function createHasher({ algorithm, size }: ContentId): Promise<ContentHasher> {
  const isSha256 = algorithm === 'sha256';
  const hasher = await (isSha256 ? createSHA256() : createSHA1());
  const reset = () => {
    hasher.init();
    if (!isSha256) hasher.update(`blob ${size}\0`);
  };
  reset();
  return { update: (bytes) => void hasher.update(bytes), digest: () => hasher.digest('hex'), reset };
}

/** The name of a content: equal for equal files, wherever they come from. */
export const contentName = ({ algorithm, digest }: ContentId): string => `${algorithm}-${digest}`;

/** The content id that a description gives, or `null` where it is none that can be checked. */
export function contentId(
  size: unknown,
  algorithm: ContentId['algorithm'],
  digest: unknown,
): ContentId | null {
  const length = algorithm === 'sha256' ? 64 : 40;
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) return null;
  if (typeof digest !== 'string' || digest.length !== length || !/^[0-9a-f]+$/i.test(digest)) return null;
  return { size, algorithm, digest: digest.toLowerCase() };
}
