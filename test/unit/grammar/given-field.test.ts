import { describe, expect, it } from 'vitest';
import type { Constraint, ContentConstraint } from '../../../src/protocol.ts';
import { Constraints } from '../../../worker/grammar/constraints.ts';
import { testModel } from './models.ts';

const { engine, tokenizer, eosTokenId } = testModel('tiny');
const { table, width } = engine.vocabulary;
const tool = { name: 'f', schema: { type: 'object' }, path: 'tools[0].function.parameters' };
const calls: Constraint['calls'] = { choice: 'auto', parallel: true, functions: [tool] };
const json: ContentConstraint = { kind: 'json', schema: { type: 'object' }, path: 'response_format' };
const grammar: ContentConstraint = {
  kind: 'grammar',
  source: 'root ::= ([^"]{1,200} "-"){1,100}',
  path: 'structured_outputs.grammar',
};

/** What a request comes to for which a compile may take `compileLimit` milliseconds. */
async function failure(constraint: Pick<Constraint, 'calls' | 'content'>, compileLimit: number) {
  const constraints = new Constraints({
    table,
    width,
    eosTokenIds: [eosTokenId],
    encode: (text) => tokenizer.encode(text),
    compileLimit,
  });
  const job = {
    messages: [],
    tools: null,
    templateArguments: {},
    sampling: {},
    maxTokens: null,
    choices: 1,
    constraint: { format: { reasoning: null, tools: 'hermes' }, thinkingTokenBudget: null, ...constraint },
  };
  return constraints.prepare(job, []).then(
    () => null,
    (error: unknown) => error,
  );
}

describe('what is wrong with a grammar as a whole', () => {
  it.each([
    ['tools', { calls, content: null }, 'tools', /Offer fewer tools, or simpler ones\.$/],
    ['a schema', { calls: null, content: json }, 'response_format', /Give a simpler schema\.$/],
    [
      'both',
      { calls, content: json },
      'tools',
      /Offer fewer tools, or simpler ones\. Give a simpler schema\.$/,
    ],
    ['a grammar', { calls: null, content: grammar }, 'structured_outputs.grammar', /Write simpler rules/],
    [
      'a grammar beside tools',
      { calls, content: grammar },
      'structured_outputs.grammar',
      /Write simpler rules/,
    ],
  ])('is an error of what was given, with advice that fits: %s', async (_, constraint, param, advice) => {
    expect(await failure(constraint, 0)).toMatchObject({
      name: 'BadRequestError',
      code: 'grammar_too_large',
      param,
      message: expect.stringMatching(advice),
    });
  });

  it.each<[ContentConstraint, string]>([
    [{ ...grammar, source: 'root ::= "a" ]' }, 'grammar_invalid'],
    [{ kind: 'choice', choices: ['a', '\u0001'], path: 'structured_outputs.choice' }, 'grammar_unsupported'],
    [{ kind: 'choice', choices: ['a', 'b\ud800'], path: 'structured_outputs.choice' }, 'grammar_unsupported'],
  ])('also for other reasons: %j', async (content, code) => {
    expect(await failure({ calls: null, content }, 10_000)).toMatchObject({
      name: 'BadRequestError',
      code,
      param: content.path,
    });
  });

  it('is not what a place of it has wrong', async () => {
    const content: ContentConstraint = { ...json, schema: { type: 'nothing' } } as ContentConstraint;
    expect(await failure({ calls, content }, 10_000)).toMatchObject({ param: 'response_format.type' });
  });
});

describe('patterns of many tools', () => {
  /** As many tools with five patterns each, all different. */
  const offered = (count: number, pattern: (tool: number, key: number) => string): Constraint['calls'] => ({
    choice: 'required',
    parallel: true,
    functions: Array.from({ length: count }, (_, tool) => ({
      name: `f${tool}`,
      path: `tools[${tool}].function.parameters`,
      schema: {
        type: 'object',
        properties: Object.fromEntries(
          [0, 1, 2, 3, 4].map((key) => [`k${key}`, { type: 'string', pattern: pattern(tool, key) }]),
        ),
      },
    })),
  });

  it('that are too much work together are refused where it is too much, each time', async () => {
    const content = null;
    const large = offered(100, (tool, key) => `^[a-z]{1,${100 + key}}(x|y){${tool},200}$`);
    const refusals = [];
    for (let time = 0; time < 2; time++) {
      const start = performance.now();
      refusals.push(await failure({ calls: large, content }, 30_000));
      // A second is meant; a busy machine takes longer.
      expect(performance.now() - start).toBeLessThan(10_000);
    }
    const [first, second] = refusals as { param: string }[];
    expect(first).toMatchObject({
      name: 'BadRequestError',
      code: 'schema_too_large',
      param: expect.stringMatching(/^tools\[\d+\]\.function\.parameters\.properties\.k\d$/),
    });
    expect(second!.param).toBe(first!.param);
  });

  it('that are like those of real tools are not', async () => {
    const usual = offered(50, (tool, key) => `^[A-Z]{2,${3 + key}}-\\d{1,${4 + tool}}(?: [a-z]+)?$`);
    expect(await failure({ calls: usual, content: null }, 30_000)).toBeNull();
  });
});
