/** Keys of arguments in formats that write them as parameters, where a schema says what they may be. */
import { describe, expect, it } from 'vitest';
import { subjectOf } from '../../agreement/subject.ts';
import { type GrammarRequest, isAccepted, prepare, spellings } from './acceptance.ts';

const request = (parameters?: object): GrammarRequest => ({
  tools: [{ type: 'function', function: { name: 'f', ...(parameters && { parameters }) } }],
  request: { tool_choice: 'required' },
  start: 'closed',
});

async function accepts(format: string, parameters: object | undefined, output: string): Promise<boolean> {
  const subject = await subjectOf(format, 'qwen3', true);
  const make = await prepare(subject, request(parameters));
  return spellings(subject, output).every((ids) => isAccepted(subject, make(), ids));
}

const M3 = ']<]minimax[>[';
const CALLS: Record<string, (key: string) => string> = {
  qwen3_coder: (key) =>
    `<tool_call>\n<function=f>\n<parameter=${key}>\n1\n</parameter>\n</function>\n</tool_call>`,
  minimax_m2: (key) =>
    `<minimax:tool_call>\n<invoke name="f">\n<parameter name="${key}">1</parameter>\n</invoke>\n</minimax:tool_call>`,
  minimax_m3: (key) =>
    `${M3}<tool_call>\n${M3}<invoke name="f">${M3}<${key}>1${M3}</${key}>${M3}</invoke>\n${M3}</tool_call>`,
  glm45: (key) => `<tool_call>f\n<arg_key>${key}</arg_key>\n<arg_value>1</arg_value>\n</tool_call>`,
};

describe.each(Object.entries(CALLS))('%s', (format, call) => {
  it('ends after keys that the model chose, and without any', async () => {
    for (const parameters of [undefined, { type: 'object' }]) {
      expect(await accepts(format, parameters, call('a_key')), call('a_key')).toBe(true);
    }
  });

  it('holds declared keys to propertyNames', async () => {
    const properties = { long_name: { type: 'integer' }, id: { type: 'integer' } };
    const parameters = { type: 'object', properties, propertyNames: { maxLength: 3 } };
    expect(await accepts(format, parameters, call('id'))).toBe(true);
    expect(await accepts(format, parameters, call('long_name'))).toBe(false);
  });
});

it.each(['minimax_m2', 'deepseek_v32', 'qwen3_coder'])(
  '%s refuses a declared key that would end its tag',
  async (format) => {
    const parameters = { type: 'object', properties: { 'a>b': { type: 'string' } } };
    await expect(accepts(format, parameters, '')).rejects.toMatchObject({
      code: 'schema_unsupported',
      message: expect.stringContaining('"a>b"'),
    });
  },
);

it('a closer in minimax_m3 may name another key, but spells no other tag', async () => {
  const closed = (name: string) => CALLS.minimax_m3!('a_key').replace('</a_key>', `</${name}>`);
  for (const [name, isTaken] of [
    ['other', true],
    ['tool_calls', true],
    ['tool_call', false],
    ['invoke', false],
  ] as const) {
    expect(await accepts('minimax_m3', { type: 'object' }, closed(name)), name).toBe(isTaken);
  }
});
