import { describe, expect, it } from 'vitest';
import { ChunkQueue } from '../../../src/chat/stream.ts';
import type { ChatCompletionChunk } from '../../../src/chat/types.ts';
import { heapBytes } from '../heap.ts';

const chunk = (id: string): ChatCompletionChunk => ({
  id,
  object: 'chat.completion.chunk',
  created: 0,
  model: 'm',
  choices: [],
});

describe('ChunkQueue', () => {
  it('gives every waiting reader the next chunk, in the order in which they asked', async () => {
    const queue = new ChunkQueue();
    const asked = Promise.all([queue.next(), queue.next(), queue.next(), queue.next()]);
    queue.push([chunk('a')]);
    await Promise.resolve();
    queue.push([chunk('b'), chunk('c')]);
    queue.end();
    expect((await asked).map((next) => next?.id ?? null)).toEqual(['a', 'b', 'c', null]);
  });

  it('tells every waiting reader of an error, after the chunks before it', async () => {
    const queue = new ChunkQueue();
    const asked = Promise.allSettled([queue.next(), queue.next(), queue.next()]);
    queue.push([chunk('a')]);
    queue.fail(new Error('lost'));
    expect((await asked).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  });

  it('keeps no chunk that was read, also where the reader is always one behind', async () => {
    const queue = new ChunkQueue();
    queue.push([chunk('first')]);
    let read = 0;
    const pass = async (chunks: number) => {
      for (let index = 0; index < chunks; index++) {
        queue.push([chunk(`${index}`)]);
        if (await queue.next()) read++;
      }
    };
    await pass(10_000);
    const early = heapBytes();
    await pass(200_000);
    expect(heapBytes() - early).toBeLessThan(2_000_000);
    queue.end();
    expect((await queue.next())?.id).toBe('199999');
    expect(await queue.next()).toBeNull();
    expect(read).toBe(210_000);
  });
});
