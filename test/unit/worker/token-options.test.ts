/** What a job says of single tokens, in the real loop over a scripted backend. */
import { describe, expect, it } from 'vitest';
import type { Bench } from './scripted.ts';
import { eosTokenId, scriptedBench, tokenizer } from './scripted.ts';

const text = 'one two three';
const ids = tokenizer.encode(text);

const logprobs = (bench: Bench, request: number) =>
  bench.messages.flatMap((message) =>
    message.type === 'tokens' && message.request === request ? (message.logprobs ?? []) : [],
  );

describe('a request', () => {
  it('ends with a stop token, which counts', async () => {
    const bench = scriptedBench([{ text }]);
    bench.generate(1, { stopTokenIds: [ids[1]!] });
    expect((await bench.done(1)).choices).toEqual([{ choice: 0, reason: 'eos', completionTokens: 2 }]);
    expect(bench.tokens(1)).toEqual(ids.slice(0, 2));
  });

  it('has its least tokens before the end', async () => {
    const bench = scriptedBench([{ text: 'one' }]);
    bench.generate(1, { minTokens: 6 });
    await bench.done(1);
    const tokens = bench.tokens(1);
    expect(tokens).toHaveLength(7);
    expect(tokens.indexOf(eosTokenId)).toBe(6);
  });

  it('goes on behind an end that is ignored, up to its limit or a stop token', async () => {
    const bench = scriptedBench([{ text }, { ids: [...ids, eosTokenId, 7, 8] }]);
    bench.generate(1, { ignoreEos: true, maxTokens: ids.length + 3 });
    expect((await bench.done(1)).choices[0]).toMatchObject({ reason: 'length' });
    expect(bench.tokens(1)).toEqual([...ids, eosTokenId, eosTokenId, eosTokenId]);
    bench.generate(2, { ignoreEos: true, stopTokenIds: [7] });
    expect((await bench.done(2)).choices[0]).toMatchObject({ reason: 'eos' });
    expect(bench.tokens(2)).toEqual([...ids, eosTokenId, 7]);
  });

  it('adds its bias before it chooses', async () => {
    const bench = scriptedBench([{ text }]);
    // A scripted row is 0 at the token of the script and -10,000 elsewhere.
    const bias = new Map([
      [900, 20_000],
      [901, 19_999],
    ]);
    bench.generate(1, { logitBias: bias, maxTokens: 3 });
    await bench.done(1);
    expect(bench.tokens(1)).toEqual([900, 900, 900]);
  });

  it('tells logprobs of each token, whatever the bias, and none unasked', async () => {
    const bench = scriptedBench([{ text }]);
    bench.generate(1, { logprobs: 2, logitBias: new Map([[900, 20_000]]), maxTokens: 2 });
    await bench.done(1);
    expect(bench.tokens(1)).toEqual([900, 900]);
    expect(logprobs(bench, 1)).toEqual(
      ids.slice(0, 2).map((id) => ({
        logprob: -10_000,
        top: [
          { id, logprob: 0 },
          { id: 0, logprob: -10_000 },
        ],
      })),
    );
    bench.generate(2, { logprobs: 0 });
    const done = await bench.done(2);
    expect(logprobs(bench, 2)).toEqual(
      Array.from({ length: done.usage.completionTokens }, () => ({ logprob: 0, top: [] })),
    );
    bench.generate(3);
    await bench.done(3);
    expect(logprobs(bench, 3)).toEqual([]);
  });
});
