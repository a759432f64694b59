/** One recorded model output with its right answer, a line of a cases file. */
export interface Case {
  id: string;
  format: string;
  note?: string;
  reasoning_parser: string | null;
  tool_parser: string | null;
  thinking: boolean | null;
  prompt_tail: string | null;
  tools: unknown[] | null;
  output: string;
  chunks: string[] | null;
  finish: 'stop' | 'length' | 'stop_string';
  request: {
    stop?: string | string[];
    tool_choice?: unknown;
    parallel_tool_calls?: boolean;
    include_reasoning?: boolean;
    chat_template_kwargs?: Record<string, unknown>;
    pieces?: { text: string; special: boolean }[];
    byte_chunks_hex?: string[];
  } | null;
  expected: Expected;
  compare: 'trim' | 'collapse' | 'exact';
  accept?: Partial<Expected>[];
  stream?: {
    tool_index?: number[];
    name_once?: boolean;
    id_once?: boolean;
    min_argument_deltas?: number;
    min_content_deltas?: number;
  } | null;
  ids_only?: boolean;
  arguments_text?: string[];
  key_order?: string[][];
  ids?: string[];
}

export interface ExpectedCall {
  name: string;
  arguments: unknown;
}

export interface Expected {
  reasoning: string | null;
  content: string | null;
  tool_calls: ExpectedCall[];
  incomplete_tool_calls?: ExpectedCall[];
  finish_reason: string;
}

/** A line of a cases file: a case, or what it is instead. */
export type CaseLine = { line: number; case: Case } | { line: number; id: string | null; problem: string };

/** Reads a JSON Lines text; lines count from 1, and blank ones are left out. */
export function readLines(text: string): CaseLine[] {
  return text.split('\n').flatMap((source, index): CaseLine[] => {
    if (source.trim() === '') return [];
    const line = index + 1;
    let value: unknown;
    try {
      value = JSON.parse(source);
    } catch (error) {
      return [{ line, id: null, problem: `No JSON: ${(error as Error).message}` }];
    }
    const problem = problemOf(value);
    if (problem === null) return [{ line, case: value as Case }];
    const id: unknown = (value as { id?: unknown } | null)?.id;
    return [{ line, id: typeof id === 'string' ? id : null, problem }];
  });
}

/**
 * Reads a JSON Lines text whose lines are all cases.
 *
 * @throws Error that names the first line which is none
 */
export const readCases = (text: string): Case[] =>
  readLines(text).map((read) => {
    if ('problem' in read) throw new Error(`Line ${read.line}: ${read.problem}`);
    return read.case;
  });

const isText = (value: unknown) => typeof value === 'string';
const isTextOrNull = (value: unknown) => value === null || isText(value);
/** Fields that no case goes without, and what they hold. */
const FIELDS: Readonly<Record<string, readonly [string, (value: unknown) => boolean]>> = {
  id: ['a string', isText],
  reasoning_parser: ['the name of a format or null', isTextOrNull],
  tool_parser: ['the name of a format or null', isTextOrNull],
  output: ['a string', isText],
  finish: [
    '"stop", "length" or "stop_string"',
    (value) => ['stop', 'length', 'stop_string'].includes(value as string),
  ],
  expected: [
    'an object with "tool_calls" and "finish_reason"',
    (value) =>
      Array.isArray((value as Expected | null)?.tool_calls) && isText((value as Expected).finish_reason),
  ],
  compare: [
    '"trim", "collapse" or "exact"',
    (value) => ['trim', 'collapse', 'exact'].includes(value as string),
  ],
};

/** Files of other kinds, by fields that only they have. */
const OTHERS: readonly (readonly [fields: readonly string[], what: string])[] = [
  [
    ['request', 'accept', 'reject'],
    'a request with outputs that its grammar accepts and rejects; such cases stand in test/conformance/grammar and run with its tests',
  ],
  [['steps', 'expected'], 'a fault of a runtime in prose, with steps for a reader; no command runs it'],
];

/** What keeps a value from being a case; null if nothing does. */
function problemOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'No object.';
  const has = (name: string) => Object.hasOwn(value, name);
  const other = has('output') ? undefined : OTHERS.find(([fields]) => fields.every(has));
  if (other) return `No recorded output, but ${other[1]}. ${TAKES}`;
  const missing = Object.keys(FIELDS).filter((name) => !has(name));
  if (missing.length > 0) return `Without ${missing.map((name) => `"${name}"`).join(', ')}. ${TAKES}`;
  const wrong = Object.entries(FIELDS).find(
    ([name, [, isRight]]) => !isRight((value as Record<string, unknown>)[name]),
  );
  return wrong ? `"${wrong[0]}" must be ${wrong[1][0]}.` : null;
}

const TAKES = `Cases have ${Object.keys(FIELDS)
  .map((name) => `"${name}"`)
  .join(', ')}; test/conformance/case.ts has them all.`;
