/**
 * The structural tags that xgrammar and vLLM make for two functions, as their built-in builders return them: what
 * they admit is split as it was meant, and is what the grammar of the format here admits, apart from differences
 * that are named.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createOutputParser } from '../../../src/chat/output-parser.ts';
import { Random } from '../../agreement/random.ts';
import { type Mode, promptOf } from '../../agreement/request.ts';
import { type Subject, subjectOf } from '../../agreement/subject.ts';
import { isAccepted, prepare, spellings } from '../grammar/acceptance.ts';
import { type Written, write } from './writer.ts';

interface ReferenceTag {
  owner: string;
  model: string;
  tool_choice: string;
  reasoning: boolean;
  format: unknown;
}

/** Formats here by the names there. */
const FORMATS: Readonly<Record<string, string>> = {
  llama: 'llama3_json',
  kimi: 'kimi_k2',
  kimi_k3: 'kimi_k3',
  deepseek_r1: 'deepseek_v3',
  deepseek_v3_1: 'deepseek_v31',
  qwen_3_coder: 'qwen3_coder',
  qwen_3_5: 'qwen3_coder',
  qwen_3: 'hermes',
  hermes: 'hermes',
  harmony: 'gptoss',
  deepseek_v3_2: 'deepseek_v32',
  minimax: 'minimax_m2',
  glm_4_7: 'glm47',
  deepseek_v4: 'deepseek_v4',
  exaone: 'hermes',
};

/**
 * Where the grammar here writes one of several spellings that the reference admits, or the template's own where
 * the reference has another: each as what is replaced.
 */
const calls = (text: string) => text.replaceAll('</tool_call><tool_call>', '</tool_call>\n<tool_call>');
const bordered = (text: string) =>
  text.replaceAll('<tool_call>{', '<tool_call>\n{').replaceAll('}</tool_call>', '}\n</tool_call>');
const OWN: Readonly<Record<string, (text: string) => string>> = {
  // Calls are told apart by semicolons.
  llama: (text) => text.replaceAll('}{"name"', '}; {"name"'),
  qwen_3: calls,
  hermes: (text) => calls(bordered(text)),
  exaone: (text) => calls(bordered(text)),
  // A call without parameters has no empty line.
  qwen_3_coder: (text) => calls(text.replaceAll('>\n\n</function>', '>\n</function>')),
  qwen_3_5: (text) => calls(text.replaceAll('>\n\n</function>', '>\n</function>')),
  // Of the headers the one that the models write most.
  harmony: (text) =>
    text
      .replace(/<\|channel\|>commentary to=(functions\.\w)<\|constrain\|>json/g, HEADER)
      .replace(/ to=(functions\.\w)<\|channel\|>commentary (<\|constrain\|>)?json/g, HEADER)
      .replace(/<\|(call|return|end)\|>$/, ''),
  // Behind reasoning as many line breaks as its end and a call have.
  minimax: (text) => text.replace(/\n{4,}<minimax/, '\n\n\n<minimax'),
};
const HEADER = '<|channel|>commentary to=$1 <|constrain|>json';

/** Models whose calls no format here reads. */
const UNREAD: Readonly<Record<string, string>> = {
  cohere: 'Elements named `cofl:` of models behind Command 4: for them no format is written.',
};

/** Outputs that only the reference admits. */
const FOREIGN: Readonly<Record<string, (written: Written, named: string | undefined) => boolean>> = {
  // A function that is named is called once.
  kimi_k3: ({ calls }, named) => named !== undefined && calls.length > 1,
  // A bare object inside a line is no call but text.
  llama: ({ content, calls }) => content !== '' && calls.length > 0,
  // A turn has one call or one answer, and nothing behind it.
  harmony: ({ text, content, calls }) =>
    calls.length + (content === '' ? 0 : 1) !== 1 || /(final.*|<\|(call|return)\|>)<\|start\|>/s.test(text),
  // Two paragraphs of white space.
  minimax: ({ text, calls }) => calls.length === 0 && text.includes('</think>\n\n\n\n'),
};

const tags = readFileSync(new URL('./reference.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as ReferenceTag);

const TOOLS = [
  {
    type: 'function' as const,
    function: {
      name: 'f',
      strict: true,
      parameters: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
    },
  },
  { type: 'function' as const, function: { name: 'g' } },
];
const SAMPLES = 24;

it('knows what becomes of every model', () => {
  const models = new Set(tags.map(({ model }) => model));
  expect([...models].sort()).toEqual([...Object.keys(FORMATS), ...Object.keys(UNREAD)].sort());
});

const known = tags.filter(({ model }) => Object.hasOwn(FORMATS, model));
describe.each(Object.keys(FORMATS))('%s', async (model) => {
  const subject = await subjectOf(FORMATS[model]!, 'tiny', true);
  const rows = known.filter((tag) => tag.model === model);

  it.each(
    rows.map(
      (tag) => [`${tag.owner}, ${tag.tool_choice}${tag.reasoning ? ', reasoning' : ''}`, tag] as const,
    ),
  )('%s', async (_, { format, tool_choice, reasoning }) => {
    const name = /^named:(.*)/.exec(tool_choice)?.[1];
    const isThinking = reasoning || JSON.stringify(format).includes('"\\n</think>');
    const start = subject.format.channels ? 'free' : isThinking ? 'opened' : 'closed';
    const make = await prepare(subject, {
      tools: TOOLS,
      request: { tool_choice: name ? { type: 'function', function: { name } } : tool_choice },
      start,
    });
    let compared = 0;
    for (let sample = 0; sample < SAMPLES; sample++) {
      const written = write(format, new Random(`${model} ${tool_choice} ${sample}`));
      const { text, content, calls } = written;
      if (FOREIGN[model]?.(written, name)) continue;
      compared++;
      const parsed = await parse(subject, spellings(subject, text)[0]!, start);
      expect({ text, ...parsed }).toEqual({ text, content: content.trim(), calls });
      const own = OWN[model]?.(text) ?? text;
      const isAdmitted = spellings(subject, own).some((ids) => isAccepted(subject, make(), ids));
      expect({ text: own, isAdmitted }).toEqual({ text: own, isAdmitted: true });
    }
    expect(compared).toBeGreaterThan(1);
  });
});

async function parse(
  { names, vocabulary, ...subject }: Subject,
  ids: readonly number[],
  start: Mode['start'],
) {
  const parser = await createOutputParser({
    reasoningParser: names.reasoning,
    toolParser: names.tools,
    tools: TOOLS,
    tokens: vocabulary.table,
    prompt: { ids: promptOf({ names, vocabulary, ...subject }, start) },
  });
  for (const id of ids) if (!parser.ended) parser.feed({ ids: [id] });
  if (!parser.ended) parser.finish('stop');
  const { message } = parser.choice;
  const calls = (message.tool_calls ?? []).map(({ function: called }) => ({
    name: called.name,
    arguments: JSON.parse(called.arguments) as unknown,
  }));
  return { content: (message.content ?? '').trim(), calls };
}
