/** Required calls of the embedded model in Chromium, at a temperature at which it rambles without a grammar. */
import type { Page } from '@playwright/test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ChatCompletion } from '../../src/chat/types.ts';
import { expect } from './harness/fixture.ts';

const object = (properties: Record<string, unknown>, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
});

/** Schemas in the style of tool catalogues, each with something to get wrong. */
const SCHEMAS: Record<string, unknown>[] = [
  object({}),
  object({ query: { type: 'string', maxLength: 24 } }),
  object({ n: { type: 'integer', minimum: 3, maximum: 17 } }),
  object({ x: { type: 'number', exclusiveMinimum: 0, maximum: 1 } }),
  object({ on: { type: 'boolean' }, nothing: { type: 'null' } }),
  object({ unit: { enum: ['celsius', 'fahrenheit'] }, place: { type: 'string', maxLength: 12 } }),
  object({ date: { type: 'string', pattern: '^20[0-9]{2}-[01][0-9]-[0-3][0-9]$' } }),
  object({ code: { type: 'string', pattern: '^[A-Z]{2}-[0-9]{3}$' } }),
  object({ tags: { type: 'array', items: { enum: ['a', 'b', 3, null] }, minItems: 1, maxItems: 3 } }),
  object({
    pair: {
      type: 'array',
      prefixItems: [{ type: 'boolean' }, { type: 'integer', minimum: 0, maximum: 9 }],
      items: false,
      minItems: 2,
    },
  }),
  object({ either: { anyOf: [{ const: 'x' }, object({ k: { type: 'boolean' } })] } }),
  object({ deep: object({ deeper: object({ deepest: { enum: [1, 2] } }) }) }),
  object({ a: { enum: [1] }, b: { enum: [2] } }, ['b']),
  { ...object({ v: { type: ['integer', 'null'], minimum: 0, maximum: 5 } }), additionalProperties: false },
];

interface Run {
  schemas: Record<string, unknown>[];
  /** Seed of the first request; the others count up. */
  from: number;
  count: number;
}

/** Runs in the page. */
async function call({ schemas, from, count }: Run): Promise<ChatCompletion[]> {
  const { createEngine } = window.tokenprism;
  const engine = await createEngine({ device: 'wasm' });
  const answers: ChatCompletion[] = [];
  for (let seed = from; seed < from + count; seed++) {
    answers.push(
      await engine.chat.completions.create({
        messages: [{ role: 'user', content: 'Do what you can do.' }],
        tools: [{ type: 'function', function: { name: 'act', parameters: schemas[seed % schemas.length]! } }],
        tool_choice: 'required',
        parallel_tool_calls: false,
        temperature: 1.5,
        thinking_token_budget: 6,
        seed,
        max_tokens: 160,
      }),
    );
  }
  await engine.close();
  return answers;
}

/** Makes as many requests and expects a valid call of each. */
export async function expectValidCalls(page: Page, from: number, count: number): Promise<void> {
  const answers = await page.evaluate(call, { schemas: SCHEMAS, from, count });
  const ajv = new Ajv2020({ strict: false });
  expect(answers).toHaveLength(count);
  for (const [index, { choices }] of answers.entries()) {
    const [choice] = choices;
    const seen = JSON.stringify(choice);
    expect(choice?.finish_reason, seen).toBe('tool_calls');
    expect(choice?.message.content, seen).toBeNull();
    expect(choice?.message.tool_calls, seen).toHaveLength(1);
    const [made] = choice?.message.tool_calls ?? [];
    const isValid = ajv.validate(
      SCHEMAS[(from + index) % SCHEMAS.length]!,
      JSON.parse(made!.function.arguments),
    );
    expect(isValid, `${made!.function.arguments}: ${ajv.errorsText()}`).toBe(true);
  }
}
