/**
 * The three fields, `finish_reason`, `usage`, `logprobs` and `token_ids` tell one story: for every answer, `tool_choice`,
 * `stream`, `include_reasoning`, `n` and end.
 */
import { afterAll, describe, expect, it } from 'vitest';
import type { ChatCompletion, ChatCompletionChoice, ChatCompletionTool } from '../../../src/chat/types.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import type { ScriptedTurn } from '../../../src/protocol.ts';
import { scriptedModel, tokenizer } from '../worker/scripted.ts';
import { askBothWays, type Body, type BothWays, comparable, expectOne, scriptedEngine } from './both-ways.ts';

const tool = (name: string): ChatCompletionTool => ({
  type: 'function',
  function: {
    name,
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
});
const tools = [tool('weather'), tool('time')];
const call = (name: string, city: string) =>
  `<tool_call>\n{"name": "${name}", "arguments": {"city": "${city}"}}\n</tool_call>`;
const thought = '<think>\nI look.\n</think>\n\n';

interface Answer {
  turn: ScriptedTurn;
  reasoning: string | null;
  content: string | null;
  /** Cities of the calls. */
  calls: string[];
  /** Arguments of calls that are cut. */
  cut: string[];
}

const answers: Record<string, Answer> = {
  'reasoning and content': {
    turn: { text: `${thought}Sun é 🌞 here.` },
    reasoning: 'I look.',
    content: 'Sun é 🌞 here.',
    calls: [],
    cut: [],
  },
  'reasoning only': {
    turn: { text: '<think>\nI look.' },
    reasoning: 'I look.',
    content: null,
    calls: [],
    cut: [],
  },
  'a call': {
    turn: { text: thought + call('weather', 'Rome') },
    reasoning: 'I look.',
    content: null,
    calls: ['Rome'],
    cut: [],
  },
  'content around two calls': {
    turn: { text: `${thought}Moment.\n${call('weather', 'Rome')}\n${call('time', 'Pisa')}\nDone.` },
    reasoning: 'I look.',
    content: 'Moment.\nDone.',
    calls: ['Rome', 'Pisa'],
    cut: [],
  },
  'a call and one that ends inside its arguments': {
    turn: { text: `${thought}${call('weather', 'Rome')}\n${call('time', 'Pisa').slice(0, -16)}` },
    reasoning: 'I look.',
    content: null,
    calls: ['Rome'],
    cut: ['{"city": "Pisa'],
  },
  'thoughts between': {
    turn: { text: `${thought}One.<think>\nAgain.\n</think>\n\nTwo.` },
    reasoning: 'I look.Again.',
    content: 'One.Two.',
    calls: [],
    cut: [],
  },
};
const choices: Record<string, NonNullable<Body['tool_choice']>> = {
  none: 'none',
  auto: 'auto',
  required: 'required',
  named: { type: 'function', function: { name: 'weather' } },
};

const { bytes, offsets } = scriptedModel([{ text: '' }]).table;
const bytesOf = (id: number) => [...bytes.subarray(offsets[id]!, offsets[id + 1]!)];
const writtenBy = (ids: readonly number[]) => new TextDecoder().decode(Uint8Array.from(ids.flatMap(bytesOf)));
const [start, end] = [tokenizer.encode('<think>')[0]!, tokenizer.encode('</think>')[0]!];

const engines: Engine[] = [];
afterAll(async () => {
  for (const engine of engines) await engine.close();
});
async function engineOf(turns: ScriptedTurn[]): Promise<Engine> {
  const engine = await scriptedEngine(turns);
  engines.push(engine);
  return engine;
}

const cities = ({ message }: ChatCompletionChoice) =>
  (message.tool_calls ?? []).map((made) => (JSON.parse(made.function.arguments) as { city: string }).city);

/** What every choice is to itself, whatever was asked. */
function expectConsistent(choice: ChatCompletionChoice, deliversCalls: boolean): void {
  const { message, token_ids, logprobs, finish_reason, stop_reason } = choice;
  const made = message.tool_calls ?? [];
  if (finish_reason !== 'length') expect(finish_reason).toBe(made.length > 0 ? 'tool_calls' : 'stop');
  expect(stop_reason).toBeNull();
  expect(message.tool_calls === undefined || made.length > 0).toBe(true);
  if (!deliversCalls) expect([made, choice.incomplete_tool_calls]).toEqual([[], undefined]);
  for (const { function: called } of made)
    expect(() => JSON.parse(called.arguments) as unknown).not.toThrow();
  const all = [...made, ...(choice.incomplete_tool_calls ?? [])];
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  expect([message.content, message.reasoning]).not.toContain('');
  if (!token_ids) return;
  expect(logprobs!.content!.map((entry) => entry.bytes)).toEqual(token_ids.map(bytesOf));
  const written = writtenBy(token_ids);
  const parts = [message.reasoning ?? '', message.content ?? ''];
  for (const text of parts) for (const word of text.split(/[\s.]+/)) expect(written).toContain(word);
}

function expectUsage({ choices, usage }: ChatCompletion): void {
  const { completion_tokens, prompt_tokens, total_tokens, completion_tokens_details } = usage!;
  expect(total_tokens).toBe(prompt_tokens + completion_tokens);
  expect(completion_tokens_details!.reasoning_tokens).toBeLessThanOrEqual(completion_tokens);
  if (!choices[0]!.token_ids) return;
  expect(completion_tokens).toBe(choices.reduce((sum, choice) => sum + choice.token_ids!.length, 0));
}

/** Tokens between the markers. */
function thoughtTokens(ids: readonly number[]): number {
  let inside = true;
  let count = 0;
  for (const id of ids) {
    if (id === start) inside = true;
    else if (id === end) inside = false;
    else if (inside) count++;
  }
  return count;
}

function expectStream({ whole, chunks }: BothWays): void {
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
  expect(chunks.at(-1)!.choices).toEqual([]);
  for (const { index, finish_reason } of whole.choices) {
    const parts = chunks.flatMap((chunk) => chunk.choices.filter((choice) => choice.index === index));
    expect(parts[0]!.delta).toEqual({ role: 'assistant' });
    expect(parts.map((part) => part.finish_reason).filter((reason) => reason !== null)).toEqual([
      finish_reason,
    ]);
    expect(parts.at(-1)).toMatchObject({ delta: {}, finish_reason });
    for (const { delta } of parts.slice(1, -1)) {
      expect(Object.keys(delta)).toHaveLength(1);
      expect([delta.content, delta.reasoning]).not.toContain('');
    }
  }
}

const withoutReasoning = (completion: ChatCompletion) =>
  completion.choices.map(({ token_ids: _, logprobs: __, message, ...choice }) => ({
    ...choice,
    message: { ...message, reasoning: null },
  }));

describe.each(Object.entries(answers))('%s', (name, answer) => {
  it.each(Object.entries(choices))(
    'tool_choice %s',
    async (choiceName, tool_choice) => {
      const engine = await engineOf([answer.turn]);
      const length = tokenizer.encode(answer.turn.text!).length;
      for (const n of [1, 3]) {
        for (const max_tokens of [90, length - 3]) {
          const body = { tools, tool_choice, n, max_tokens, seed: 5, logprobs: true, return_token_ids: true };
          const shown = await askBothWays(engine, body);
          const hidden = await askBothWays(engine, { ...body, include_reasoning: false });
          for (const both of [shown, hidden]) {
            await expectOne(both);
            expectStream(both);
            expect(both.whole.choices).toHaveLength(n);
            for (const choice of both.whole.choices) expectConsistent(choice, tool_choice !== 'none');
            expectUsage(both.whole);
          }
          const where = `${name}, ${choiceName}, n ${n}, max_tokens ${max_tokens}`;
          // Withheld is withheld, and nothing else changes.
          for (const choice of hidden.whole.choices) {
            expect(choice.message.reasoning, where).toBeNull();
            expect([choice.logprobs, choice.token_ids], where).toEqual([null, undefined]);
          }
          expect(comparable(hidden.whole.usage), where).toEqual(comparable(shown.whole.usage));
          const calledSame = (completion: ChatCompletion) => comparable(withoutReasoning(completion));
          expect(calledSame(hidden.whole), where).toEqual(calledSame(shown.whole));

          const { completion_tokens_details } = shown.whole.usage!;
          const thinking = shown.whole.choices
            .map(({ token_ids }) => token_ids!)
            .filter((ids) => ids.includes(end));
          if (thinking.length === n) {
            const counted = thinking.reduce((sum, ids) => sum + thoughtTokens(ids), 0);
            expect(completion_tokens_details!.reasoning_tokens, where).toBe(counted);
          }
          const isWhole = max_tokens === 90;
          const isFree = tool_choice === 'none' || tool_choice === 'auto';
          for (const choice of shown.whole.choices) {
            const isScript = writtenBy(choice.token_ids!) === `${answer.turn.text}<|im_end|>`;
            if (isFree) {
              expect([isScript, choice.finish_reason === 'length'], where).toEqual([isWhole, !isWhole]);
            }
            // A grammar may have led the answer elsewhere.
            if (!isScript) continue;
            const { message, incomplete_tool_calls = [] } = choice;
            expect(message, where).toMatchObject({ reasoning: answer.reasoning, content: answer.content });
            expect(cities(choice), where).toEqual(tool_choice === 'none' ? [] : answer.calls);
            const cut = incomplete_tool_calls.map((made) => made.function.arguments);
            expect(cut, where).toEqual(tool_choice === 'none' ? [] : answer.cut);
          }
        }
      }
    },
    60_000,
  );
});

it('choices that differ keep their own story, and their index', async () => {
  const three = [answers['reasoning and content']!, answers['a call']!, answers['reasoning only']!];
  const engine = await engineOf(three.map(({ turn }) => turn));
  const both = await askBothWays(engine, { tools, n: 3, logprobs: true, return_token_ids: true });
  await expectOne(both);
  expectStream(both);
  expectUsage(both.whole);
  expect(both.whole.choices.map(({ message }) => message.content)).toEqual(
    three.map(({ content }) => content),
  );
  expect(both.whole.choices.map(cities)).toEqual([[], ['Rome'], []]);
  expect(both.whole.choices.map(({ finish_reason }) => finish_reason)).toEqual([
    'stop',
    'tool_calls',
    'stop',
  ]);
});
