import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngine } from '../../../src/engine/engine.ts';
import { SchemaViolationError } from '../../../src/errors.ts';
import type { Engine } from '../../../src/index.ts';
import { scriptedWorker } from './in-process-worker.ts';

const call = '<tool_call>\n{"name": "act", "arguments": {"list": [1, 1]}}\n</tool_call>';
const act = (strict?: boolean) => ({
  type: 'function' as const,
  function: {
    name: 'act',
    parameters: {
      type: 'object',
      properties: { list: { type: 'array', items: { type: 'integer' }, uniqueItems: true } },
      required: ['list'],
      additionalProperties: false,
    },
    ...(strict !== undefined && { strict }),
  },
});

describe('a call that breaks what a grammar does not hold', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await createEngine({ worker: () => scriptedWorker([{ text: call }]) as unknown as Worker });
  });
  afterAll(() => engine.close());

  /** Tokens of the whole call, its end marker included. */
  const length = async () => {
    const { usage } = await engine.chat.completions.create({
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [act()],
      chat_template_kwargs: { enable_thinking: false },
    });
    return usage!.completion_tokens - 1;
  };

  it.each<[string, { parallel_tool_calls?: boolean; stop?: string[]; max_tokens?: 'behind the call' }]>([
    ['required', {}],
    ['required', { parallel_tool_calls: false }],
    ['auto', { parallel_tool_calls: false }],
    ['auto', { stop: ['never'] }],
    ['named', {}],
    ['required', { max_tokens: 'behind the call' }],
  ])('is an error and never handed out as whole: %s, %j', async (choice, { max_tokens, ...fields }) => {
    const request = {
      messages: [{ role: 'user' as const, content: 'Hi' }],
      tools: [act(choice === 'auto' ? true : undefined)],
      tool_choice:
        choice === 'named'
          ? { type: 'function' as const, function: { name: 'act' } }
          : (choice as 'auto' | 'required'),
      chat_template_kwargs: { enable_thinking: false },
      ...(max_tokens && { max_tokens: await length() }),
      ...fields,
    };
    await expect(engine.chat.completions.create(request)).rejects.toThrow(SchemaViolationError);
    const reasons: unknown[] = [];
    const stream = await engine.chat.completions.create({ ...request, stream: true as const });
    const read = async () => {
      for await (const { choices } of stream) reasons.push(choices[0]?.finish_reason ?? null);
    };
    await expect(read()).rejects.toMatchObject({ name: 'SchemaViolationError', code: 'schema_violation' });
    expect(reasons.filter((reason) => reason !== null)).toEqual([]);
  });
});
