/** Recorded outputs of the embedded model and the conformance outputs, replayed: streamed equals collected. */
import { readdirSync, readFileSync } from 'node:fs';
import type { ChatCompletionTool } from '../../src/chat/types.ts';
import { type Case, readCases } from '../conformance/case.ts';
import { expect, test } from './harness/fixture.ts';

/** One output and the request that it answers. */
interface Recording {
  reasoningParser: string | null;
  toolParser: string | null;
  turn: { ids: number[] } | { text: string };
  fields: {
    tools?: ChatCompletionTool[];
    chat_template_kwargs: Record<string, boolean>;
    max_tokens?: number;
    stop?: string[];
    parallel_tool_calls?: boolean;
    include_reasoning?: boolean;
  };
}

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

const demoTools = JSON.parse(read('../../models/tiny/demo-tools.json')) as ChatCompletionTool[];

/** Formats whose markers the embedded model's vocabulary has. */
const withTinyVocabulary = {
  reasoning: ['qwen3', null] as (string | null)[],
  tools: ['hermes', 'qwen3_coder', 'qwen3_xml', null] as (string | null)[],
};

/** Every fifth runs as it was; the others with one of the fields that change what is delivered. */
const variations: Partial<Recording['fields']>[] = [
  {},
  { stop: ['e ', '}'] },
  { parallel_tool_calls: false },
  { include_reasoning: false },
  { stop: ['weather'], parallel_tool_calls: false },
];

function recordings(): Recording[] {
  return read('../fixtures/recorded-streams/streams.jsonl')
    .trim()
    .split('\n')
    .map((line, index) => {
      const { thinking, ids } = JSON.parse(line) as { thinking: boolean; ids: number[] };
      return {
        reasoningParser: 'qwen3',
        toolParser: 'hermes',
        turn: { ids },
        fields: {
          tools: demoTools,
          chat_template_kwargs: { enable_thinking: thinking },
          max_tokens: ids.length,
          ...variations[index % variations.length],
        },
      };
    });
}

const fromCase = ({ reasoning_parser, tool_parser, tools, thinking, output, finish }: Case): Recording => ({
  reasoningParser: reasoning_parser,
  toolParser: tool_parser,
  turn: { text: output },
  fields: {
    ...(tools?.length && { tools: tools as ChatCompletionTool[] }),
    chat_template_kwargs: thinking === null ? {} : { enable_thinking: thinking },
    ...(finish === 'length' && { max_tokens: Math.max(1, Math.floor(output.length / 8)) }),
  },
});

interface Figures {
  answers: number;
  reasoning: number;
  calls: number;
  incomplete: number;
  cutByStop: number;
  differences: unknown[];
}

/** Runs in the page: every recording once collected and once streamed. */
async function compare(recordings: Recording[]): Promise<Figures> {
  const { createScriptedEngine, collectCompletion } = window.tokenprism;
  const figures: Figures = {
    answers: 0,
    reasoning: 0,
    calls: 0,
    incomplete: 0,
    cutByStop: 0,
    differences: [],
  };
  const messages = [{ role: 'user' as const, content: 'Go on.' }];
  const groups = new Map<string, Recording[]>();
  for (const recording of recordings) {
    const key = `${recording.reasoningParser} ${recording.toolParser}`;
    groups.set(key, [...(groups.get(key) ?? []), recording]);
  }
  for (const group of groups.values()) {
    const { reasoningParser, toolParser } = group[0]!;
    const turns = group.flatMap(({ turn }) => [turn, turn]);
    const engine = await createScriptedEngine(turns, { reasoningParser, toolParser });
    for (const { fields, turn } of group) {
      const collected = await engine.chat.completions.create({ messages, ...fields });
      const stream = await engine.chat.completions.create({
        messages,
        ...fields,
        stream: true,
        stream_options: { include_usage: true },
      });
      const streamed = await collectCompletion(stream);
      const [first, second] = [collected, streamed].map((completion) => {
        const copy = structuredClone(completion);
        const [choice] = copy.choices;
        // Ids are made anew for each answer.
        for (const call of [
          ...(choice?.message.tool_calls ?? []),
          ...(choice?.incomplete_tool_calls ?? []),
        ]) {
          call.id = '';
        }
        // The second request finds its prompt read.
        if (copy.usage) delete copy.usage.prompt_tokens_details;
        return JSON.stringify({ ...copy, id: '', created: 0 });
      });
      if (first !== second) figures.differences.push({ turn, fields, collected, streamed });
      const choice = collected.choices[0]!;
      for (const call of choice.message.tool_calls ?? []) JSON.parse(call.function.arguments);
      figures.answers++;
      if (choice.message.reasoning) figures.reasoning++;
      if (choice.message.tool_calls) figures.calls++;
      if (choice.incomplete_tool_calls) figures.incomplete++;
      if (fields.stop && choice.finish_reason === 'stop') figures.cutByStop++;
    }
    await engine.close();
  }
  return figures;
}

test('300 recorded streams of the embedded model', async ({ page }) => {
  const figures = await page.evaluate(compare, recordings());
  expect(figures.differences).toEqual([]);
  expect(figures.answers).toBe(300);
  // That the recordings hold what can go wrong.
  expect(figures.reasoning).toBeGreaterThan(100);
  expect(figures.calls).toBeGreaterThan(80);
  expect(figures.incomplete).toBeGreaterThan(5);
  expect(figures.cutByStop).toBeGreaterThan(30);
});

test('the outputs of the conformance cases', async ({ page }) => {
  const folder = '../conformance/cases/';
  const cases = readdirSync(new URL(folder, import.meta.url))
    .flatMap((file) => readCases(read(folder + file)))
    .filter(
      ({ reasoning_parser, tool_parser }) =>
        withTinyVocabulary.reasoning.includes(reasoning_parser) &&
        withTinyVocabulary.tools.includes(tool_parser),
    );
  const figures = await page.evaluate(compare, cases.map(fromCase));
  expect(figures.differences).toEqual([]);
  expect(figures.answers).toBe(cases.length);
  expect(figures.calls).toBeGreaterThan(40);
});
