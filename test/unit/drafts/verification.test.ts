/** Whatever is drafted, tokens, log probabilities and what the sequence holds afterwards are those without drafts. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Constraint, FromWorker, GenerateJob } from '../../../src/protocol.ts';
import type { Drafts } from '../../../worker/drafts/drafts.ts';
import type { Model } from '../../../worker/model.ts';
import { Bench, scriptedModel, tokenizer } from '../worker/scripted.ts';
import { MadeUpBackend, RandomDrafts } from './made-up-model.ts';

const capacity = 256;

const scripted = scriptedModel([{ text: '' }]);
const textOf = (ids: readonly number[]) => (ids.length > 0 ? tokenizer.tokenizer.decode([...ids]) : '');

/** Runs a request on the made-up model. */
async function answered(job: Partial<GenerateJob>, drafts: Drafts | null, canTruncate = true) {
  const backend = new MadeUpBackend(capacity, canTruncate);
  const model: Model = { ...scripted, drafts, createBackend: async () => backend };
  const bench = new Bench(async () => ({ model, backend }));
  bench.load();
  bench.generate(1, job);
  const end = await bench.end(1);
  const ofChoices = <Type extends FromWorker['type']>(type: Type) =>
    bench.messages.filter((message): message is Extract<FromWorker, { type: Type }> => message.type === type);
  return {
    end: end.type === 'failed' ? end.error : { choices: end.choices, usage: end.usage },
    timings: end.type === 'failed' ? null : end.timings,
    ids: Array.from({ length: job.choices ?? 1 }, (_, choice) => bench.tokens(1, choice)),
    logprobs: ofChoices('tokens').flatMap(({ logprobs }) => logprobs ?? []),
    prompt: [...(ofChoices('started')[0]?.promptTokenIds ?? [])],
    held: backend.held,
    passes: backend.passes,
  };
}

const json: Constraint = {
  format: { reasoning: null, tools: null },
  calls: null,
  content: {
    kind: 'json',
    schema: {
      type: 'object',
      properties: { city: { enum: ['Paris', 'Tokyo'] }, list: { type: 'array', items: { type: 'integer' } } },
      required: ['city', 'list'],
      additionalProperties: false,
    },
    path: 'response_format',
  },
  thinkingTokenBudget: null,
};

const jobs: fc.Arbitrary<Partial<GenerateJob>> = fc.record({
  sampling: fc.record({
    temperature: fc.constantFrom(0, 0.7, 1.3),
    topK: fc.constantFrom(0, 4),
    topP: fc.constantFrom(1, 0.9),
    repetitionPenalty: fc.constantFrom(1, 1.3),
    presencePenalty: fc.constantFrom(0, 0.5),
    frequencyPenalty: fc.constantFrom(0, 0.2),
    seed: fc.nat(1000),
  }),
  maxTokens: fc.constantFrom(1, 2, 30, 60),
  choices: fc.constantFrom(1, 2),
  logprobs: fc.constantFrom(null, 2),
  stopTokenIds: fc.constantFrom([], [305, 317, 322]),
  minTokens: fc.constantFrom(0, 12),
  logitBias: fc.constantFrom(new Map(), new Map([[310, 2]])),
  constraint: fc.constantFrom(null, null, json),
});

describe('a draft', () => {
  it('changes nothing but the number of passes', async () => {
    let [drafted, accepted, rejected] = [0, 0, 0];
    await fc.assert(
      fc.asyncProperty(jobs, fc.nat(), async (job, seed) => {
        const plain = await answered(job, null);
        const { timings, passes, ...found } = await answered(job, new RandomDrafts(plain.ids[0]!, seed));
        const { timings: _, passes: passesWithout, ...expected } = plain;
        expect(found).toEqual(expected);
        expect(passes).toBeLessThanOrEqual(passesWithout);
        if (!timings) return;
        // The prompt is read once for each choice.
        expect(timings.forwards).toBe(passes - (job.choices ?? 1));
        drafted += timings.draftedTokens;
        accepted += timings.acceptedTokens;
        rejected += timings.draftedTokens - timings.acceptedTokens;
      }),
      { numRuns: 60, seed: 7 },
    );
    expect(drafted).toBeGreaterThan(1000);
    expect(accepted).toBeGreaterThan(500);
    expect(rejected).toBeGreaterThan(500);
  }, 240_000);

  it('leaves in the sequence what was read of prompt and answer', async () => {
    const job = { maxTokens: 40, sampling: { seed: 3, temperature: 1 } };
    const plain = await answered(job, null);
    const { held, prompt, ids, timings } = await answered(job, new RandomDrafts(plain.ids[0]!, 5));
    expect(timings!.draftedTokens - timings!.acceptedTokens).toBeGreaterThan(0);
    expect(held).toEqual([[...prompt, ...ids[0]!.slice(0, -1)]]);
  });

  it('does not reach beyond the context', async () => {
    const plain = await answered({}, null);
    expect(plain.prompt.length + plain.ids[0]!.length).toBe(capacity);
    const { ids } = await answered({}, new RandomDrafts(plain.ids[0]!, 1));
    expect(ids).toEqual(plain.ids);
  });

  it('is not made where a state can not be cut back', async () => {
    const plain = await answered({ maxTokens: 20 }, null, false);
    const { ids, timings } = await answered({ maxTokens: 20 }, new RandomDrafts(plain.ids[0]!, 1), false);
    expect(ids).toEqual(plain.ids);
    expect(timings).toMatchObject({ forwards: 19, draftedTokens: 0, acceptedTokens: 0 });
  });
});

describe('a draft under a grammar', () => {
  it('ends where the grammar does not let it go on, is joined by what is forced, and leaves the grammar alone', async () => {
    const constrain = await scripted.constraints.prepare(
      {
        messages: [],
        tools: null,
        templateArguments: {},
        sampling: {},
        maxTokens: null,
        choices: 1,
        constraint: json,
      },
      [],
    );
    const constraint = constrain!();
    const text = '{"city": "Paris", "list": [1, 2]}';
    const ids = tokenizer.encode(text);
    // What is forced can be cut into other tokens.
    const next = (made: readonly number[]) => tokenizer.encode(text.slice(textOf(made).length))[0] ?? null;
    const [wrong] = tokenizer.encode('Hello');
    let forced = 0;
    for (const [index, id] of ids.entries()) {
      const before = [constraint.forced(), constraint.mask()?.slice()];
      const taken = ids.slice(0, index);
      const draft = constraint.ahead((made) => next([...taken, ...made]), 100);
      expect(textOf([...taken, ...draft]).startsWith(text)).toBe(true);
      const sure = constraint.ahead(() => null, 100);
      expect(text.startsWith(textOf([...taken, ...sure]))).toBe(true);
      expect(constraint.ahead(() => wrong!, 100)).toEqual(sure);
      expect([constraint.forced(), constraint.mask()?.slice()]).toEqual(before);
      forced += sure.length;
      constraint.accept(id);
    }
    expect(forced).toBeGreaterThan(0);
    constraint.dispose();
  });
});
