/** What is asked for in a walk: a request as people write it, and how the prompt ends. */
import { readConstraint } from '../../src/chat/constraint.ts';
import { readTools } from '../../src/chat/tools.ts';
import { spellings } from '../../src/parser/format.ts';
import type { Constraint, GenerateJob } from '../../src/protocol.ts';
import type { Tool } from './catalogue.ts';
import type { Random } from './random.ts';
import { randomTools, schema } from './schemas.ts';
import type { Subject } from './subject.ts';

const CALLS = [
  'auto',
  'auto, one call',
  'auto, names only',
  'required',
  'required, one call',
  'named',
  'json_schema',
  'json_object',
  'regex',
  'choice',
  'grammar',
  'json_schema or calls',
  'json_schema or one call',
] as const;

/** Whether the prompt has closed the reasoning, closed it because thinking is off, opened it, or says nothing. */
const STARTS = ['closed', 'off', 'opened', 'free'] as const;

export interface Mode {
  calls: (typeof CALLS)[number];
  start: (typeof STARTS)[number];
}

/** Modes that a subject has. */
export function modesOf({ format }: Subject): Mode[] {
  const starts: readonly Mode['start'][] = format.reasoning ? STARTS : ['free'];
  return starts.flatMap((start) => CALLS.map((calls) => ({ calls, start })));
}

export interface WalkRequest {
  mode: Mode;
  tools: Tool[];
  /** How many calls the answer may have. */
  calls: { least: number; most: number };
  named: string | null;
  /** Schema, pattern or choices of the content where calls have not taken its place. */
  content: { schema: unknown } | { pattern: string } | { choices: string[] } | null;
  /** Whether the arguments are held to their schemas. */
  isHeld: boolean;
  thinkingTokenBudget: number | null;
  constraint: Constraint;
  job: GenerateJob;
  promptIds: number[];
}

export function requestOf(subject: Subject, mode: Mode, random: Random): WalkRequest {
  const { calls, start } = mode;
  const { names, format } = subject;
  const isContent = ['json_schema', 'json_object', 'regex', 'choice', 'grammar'].includes(calls);
  const isOne = calls.endsWith('one call');
  const tools = isContent ? [] : randomTools(random);
  const isHeld = calls !== 'auto, names only';
  const named = calls === 'named' ? random.pick(tools).name : null;
  const choice = named !== null ? { type: 'function', function: { name: named } } : calls.split(/[, ]/)[0];
  const budget = start === 'opened' && random.chance(0.25) ? random.below(12) : null;
  const { content, fields } = contentOf(calls, random);
  const body = {
    ...(tools.length > 0 && {
      tools: tools.map((tool) => ({
        type: 'function',
        function: { ...tool, ...(isHeld && { strict: true }) },
      })),
      tool_choice: calls.startsWith('json') ? 'auto' : choice,
      parallel_tool_calls: !isOne,
    }),
    ...fields,
    ...(budget !== null && { thinking_token_budget: budget }),
  };
  const read = readTools(body);
  const constraint = readConstraint(body, read, !isOne, {
    format: names,
    toolStrictness: isHeld ? 'auto' : 'function',
    strictToolCalling: true,
  });
  if (!constraint) throw new Error(`The request asks for nothing: ${JSON.stringify(body)}`);
  const isForced = named !== null || calls.startsWith('required');
  const job: GenerateJob = {
    messages: [],
    tools: read.offered,
    templateArguments:
      start === 'off' ? { enable_thinking: false, thinking: false } : thinkingArguments(start),
    sampling: {},
    maxTokens: null,
    choices: 1,
    constraint,
  };
  const single = isOne || named !== null || format.channels !== null;
  return {
    mode,
    tools,
    calls: isContent
      ? { least: 0, most: 0 }
      : { least: isForced ? 1 : 0, most: single ? 1 : Number.POSITIVE_INFINITY },
    named,
    content,
    isHeld,
    thinkingTokenBudget: budget,
    constraint,
    job,
    promptIds: promptOf(subject, start),
  };
}

const thinkingArguments = (start: Mode['start']): Record<string, unknown> =>
  start === 'opened' ? { enable_thinking: true, thinking: true } : {};

const REGEXES = [
  '[a-c]{2,6}',
  '(yes|no)(, (yes|no))*\\.',
  '\\d{3}-\\d{4}',
  'a<b>[^<]*</b>',
  '\\n\\n +x+ *\\n',
  '\\s+',
];
const CHOICES = ['yes', 'no', 'maybe so', '<tool_call>', 'ja\n', '\n\n ja', '{"a": 1}'];

function contentOf(
  calls: Mode['calls'],
  random: Random,
): { content: WalkRequest['content']; fields: Record<string, unknown> } {
  if (calls.startsWith('json_schema')) {
    const made = objectOf(random);
    const response_format = { type: 'json_schema', json_schema: { name: 'answer', schema: made } };
    return { content: { schema: made }, fields: { response_format } };
  }
  if (calls === 'json_object') {
    return { content: { schema: { type: 'object' } }, fields: { response_format: { type: 'json_object' } } };
  }
  if (calls === 'regex') {
    const pattern = random.pick(REGEXES);
    return { content: { pattern }, fields: { structured_outputs: { regex: pattern } } };
  }
  if (calls === 'choice') {
    const choices = random.some(CHOICES, 2);
    return { content: { choices }, fields: { structured_outputs: { choice: choices } } };
  }
  if (calls === 'grammar') {
    const grammar = 'root ::= "SELECT " field (", " field)*\nfield ::= [a-z]+ | "\\"" [^"\\n]+ "\\""';
    return {
      content: { pattern: 'SELECT ([a-z]+|"[^"\\n]+")(, ([a-z]+|"[^"\\n]+"))*' },
      fields: { structured_outputs: { grammar } },
    };
  }
  return { content: null, fields: {} };
}

function objectOf(random: Random): Record<string, unknown> {
  const properties = { answer: schema(random, 2), confidence: schema(random, 0) };
  return { type: 'object', properties, required: ['answer'], additionalProperties: random.chance(0.3) };
}

/** The end of a prompt as chat templates make it. */
export function promptOf({ format, vocabulary }: Subject, start: Mode['start']): number[] {
  const { reasoning, channels } = format;
  if (channels) return vocabulary.encode(channels.writing.next);
  const turn = '<|im_start|>assistant\n';
  if (!reasoning || start === 'free') return vocabulary.encode(turn);
  const first = (terminal: string) => {
    const texts = spellings(reasoning.terminals[terminal]!);
    return texts.find((text) => vocabulary.added.has(text)) ?? texts[0]!;
  };
  const opener = first(reasoning.start);
  return vocabulary.encode(`${turn}${opener}\n${start === 'opened' ? '' : `\n${first(reasoning.end)}\n\n`}`);
}
