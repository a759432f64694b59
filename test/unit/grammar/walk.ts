import type { GrammarMatcher } from '../../../worker/grammar/matcher.ts';
import type { TestModel } from './models.ts';

/** Numbers from 0 to 1, the same for the same seed. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Writes an output at random: the matcher's mask, a token of it, the next. Null when it has no end after `most`
 * tokens, though it is drawn to one.
 *
 * @throws Error when no token is allowed
 */
export async function walk(
  { engine, eosTokenId }: TestModel,
  source: string,
  random: () => number,
  most = 400,
): Promise<string | null> {
  const matcher = (await engine.compile(source)).matcher();
  const bytes: number[] = [];
  const decode = () => new TextDecoder().decode(Uint8Array.from(bytes));
  try {
    for (let count = 0; count < most; count++) {
      const allowed = allowedIds(matcher);
      if (allowed.length === 0) throw new Error(`No token may come behind ${JSON.stringify(decode())}.`);
      const id = choose(allowed, count);
      if (!matcher.accept(id))
        throw new Error(`Token ${id} is in the mask and not taken behind ${decode()}.`);
      if (matcher.isTerminated) return decode();
      bytes.push(...engine.vocabulary.bytes(id));
    }
    return null;
  } finally {
    matcher.dispose();
  }

  function choose(allowed: readonly number[], count: number): number {
    // The longer it is, the likelier what leads to its end.
    if (random() < count / 120) {
      if (allowed.includes(eosTokenId)) return eosTokenId;
      const closing = allowed.filter((id) => isClosing(engine.vocabulary.bytes(id)));
      if (closing.length > 0) return closing[Math.floor(random() * closing.length)]!;
    }
    return allowed[Math.floor(random() * allowed.length)]!;
  }
}

const CLOSERS = new Set(Array.from('"}]', (character) => character.charCodeAt(0)));

const isClosing = (bytes: Uint8Array) => bytes.length > 0 && bytes.every((byte) => CLOSERS.has(byte));

export function allowedIds(matcher: GrammarMatcher): number[] {
  const ids: number[] = [];
  const mask = matcher.mask();
  for (const [index, word] of mask?.entries() ?? []) {
    for (let rest = word; rest !== 0; rest &= rest - 1) ids.push(32 * index + 31 - Math.clz32(rest & -rest));
  }
  return ids;
}
