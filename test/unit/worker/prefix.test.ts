import { expect, it } from 'vitest';
import type { Backend, Sequence } from '../../../worker/backends/backend.ts';
import { KnownSequence, PrefixCache } from '../../../worker/cache/prefix.ts';
import { scriptedModel } from './scripted.ts';

/** A backend whose sequences take a byte for each token, with the sequences that are open. */
async function countingBackend(more: Partial<Backend> = {}) {
  const inner = await scriptedModel([{ text: 'Hi' }]).createBackend();
  const open = new Set<Sequence>();
  const counted = (sequence: Sequence): Sequence => {
    const wrapped: Sequence = {
      get length() {
        return sequence.length;
      },
      get bytes() {
        return sequence.length;
      },
      forward: (ids, rows) => sequence.forward(ids, rows),
      truncate: (length) => sequence.truncate(length),
      close: () => {
        open.delete(wrapped);
        sequence.close();
      },
    };
    open.add(wrapped);
    return wrapped;
  };
  const backend: Backend = {
    report: inner.report,
    capacity: inner.capacity,
    width: inner.width,
    canTruncate: true,
    prefillPiece: inner.prefillPiece,
    reducer: null,
    lost: inner.lost,
    open: async () => counted(await inner.open()),
    copy: async (sequence, length) => counted(await inner.copy(sequence, length)),
    memory: () => null,
    close: async () => {},
    ...more,
  };
  return { backend, open };
}

const upTo = (end: number, from = 0) => Array.from({ length: end - from }, (_, index) => from + index);

/** Reads a prompt and says how much of it was held. */
async function read(cache: PrefixCache, prompt: number[]): Promise<number> {
  const sequence = await cache.lend(Uint32Array.from(prompt));
  const held = sequence.length;
  (await sequence.forward(prompt.slice(held), 1)).release();
  expect(sequence.ids).toEqual(prompt);
  cache.giveBack(sequence);
  return held;
}

it('a prompt goes on from what was read, and its last token is always read again', async () => {
  const { backend, open } = await countingBackend();
  const cache = new PrefixCache(backend);
  expect(await read(cache, upTo(10))).toBe(0);
  expect(await read(cache, upTo(14))).toBe(10);
  expect(await read(cache, upTo(14))).toBe(13);
  expect(await read(cache, [...upTo(9), 77, 78])).toBe(9);
  expect(open.size).toBe(1);
});

it('another conversation starts from a copy of what both begin with, and the first goes on', async () => {
  const { backend, open } = await countingBackend();
  const cache = new PrefixCache(backend);
  await read(cache, upTo(20));
  expect(await read(cache, [...upTo(4), ...upTo(110, 100)])).toBe(4);
  expect(open.size).toBe(2);
  expect(await read(cache, upTo(24))).toBe(20);
  expect(await read(cache, [...upTo(4), ...upTo(112, 100)])).toBe(14);
  expect(open.size).toBe(2);
});

it('beyond the budget, what was unused for longest goes, and the last one stays whatever it takes', async () => {
  const { backend, open } = await countingBackend();
  const cache = new PrefixCache(backend, 30);
  await read(cache, upTo(10, 0));
  await read(cache, upTo(110, 100));
  await read(cache, upTo(210, 200));
  expect(open.size).toBe(3);
  expect(await read(cache, upTo(11, 0))).toBe(10);
  expect(open.size).toBe(2);
  expect(await read(cache, upTo(211, 200))).toBe(10);
  expect(await read(cache, upTo(110, 100))).toBe(0);
  expect(await read(cache, upTo(350, 300))).toBe(0);
  expect(open.size).toBe(1);
  // No room for a copy beside the original.
  expect(await read(cache, [...upTo(310, 300), 1])).toBe(10);
  expect(open.size).toBe(1);
});

it('a state that cannot be cut back serves only prompts that go on from its end', async () => {
  const truncate = () => Promise.reject(new Error('not here'));
  const { backend } = await countingBackend({ canTruncate: false, copy: truncate });
  const cache = new PrefixCache(backend);
  await read(cache, upTo(10));
  expect(await read(cache, upTo(12))).toBe(10);
  expect(await read(cache, [...upTo(11), 99])).toBe(0);
});

it('a sequence that failed, or was left while it computed, is closed', async () => {
  const { backend, open } = await countingBackend();
  const cache = new PrefixCache(backend);
  const failing = new KnownSequence({
    ...(await backend.open()),
    forward: () => Promise.reject(new Error('device')),
  });
  await expect(failing.forward([1], 1)).rejects.toThrow('device');
  expect(failing.isSound).toBe(false);
  const left = await cache.lend(Uint32Array.of(1, 2, 3));
  const pass = left.forward([1, 2, 3], 1);
  cache.giveBack(left);
  await pass;
  expect(open.size).toBe(1);
  expect(await read(cache, [1, 2, 3])).toBe(0);
});
