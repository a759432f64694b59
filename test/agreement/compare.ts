/** Whether the product's parser made of an output what it means. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { createOutputParser } from '../../src/chat/output-parser.ts';
import type { ChatCompletionChoice } from '../../src/chat/types.ts';
import { CONTENT, spellings } from '../../src/parser/format.ts';
import { mayBeArray } from './array-schemas.ts';
import { distinct, isElementOf } from './element-reading.ts';
import { type ReadCall, type Reading, read } from './reading.ts';
import type { WalkRequest } from './request.ts';
import type { Subject } from './subject.ts';
import { UnreadableError } from './unreadable.ts';

export interface Disagreement {
  field: string;
  expected: unknown;
  got: unknown;
}

export interface Judgement {
  disagreements: Disagreement[];
  choice: ChatCompletionChoice;
}

/** Splits the output with the parser and compares. */
export async function judge(
  subject: Subject,
  request: WalkRequest,
  ids: readonly number[],
): Promise<Judgement> {
  const choice = await parse(subject, request, ids);
  const disagreements: Disagreement[] = [];
  const add = (field: string, expected: unknown, got: unknown) =>
    disagreements.push({ field, expected, got });
  try {
    compare(subject, request, read(subject, request, ids), choice, add);
  } catch (error) {
    if (!(error instanceof UnreadableError) && !(error instanceof SyntaxError)) throw error;
    add('output', 'what the family writes', error.message);
  }
  return { disagreements, choice };
}

async function parse(
  { names, vocabulary }: Subject,
  { tools, calls, constraint, job, promptIds }: WalkRequest,
  ids: readonly number[],
): Promise<ChatCompletionChoice> {
  const parser = await createOutputParser({
    reasoningParser: names.reasoning,
    toolParser: names.tools,
    tools:
      tools.length > 0 ? tools.map((tool) => ({ type: 'function' as const, function: { ...tool } })) : null,
    tokens: vocabulary.table,
    templateArguments: job.templateArguments,
    prompt: { ids: promptIds },
    parallelToolCalls: calls.most > 1,
    grammar: {
      calls: constraint.calls !== null,
      content: constraint.content !== null,
      isVerbatim: constraint.content !== null && constraint.content.kind !== 'json',
    },
  });
  for (const id of ids) if (!parser.ended) parser.feed({ ids: [id] });
  if (!parser.ended) parser.finish('stop');
  return parser.choice;
}

type Add = (field: string, expected: unknown, got: unknown) => void;

function compare(
  subject: Subject,
  request: WalkRequest,
  reading: Reading,
  choice: ChatCompletionChoice,
  add: Add,
): void {
  const { message } = choice;
  const tags = spelledTags(subject);
  // Where blocks meet, and at tags that are spelled in text, layout is not told apart from text here.
  const shown = (text: string | null) => {
    if (text === null || (!subject.format.channels && tags.length === 0)) return text;
    const plain = tags.reduce((rest, tag) => rest.replaceAll(tag, ' '), text);
    return plain.replace(/\s+/g, ' ').trim() || null;
  };
  for (const [field, expected, got] of [
    ['reasoning', reading.reasoning, message.reasoning ?? null],
    ['content', reading.content, message.content],
  ] as const) {
    if (shown(expected) !== shown(got)) add(field, expected, got);
  }
  const got = message.tool_calls ?? [];
  const names = got.map(({ function: called }) => called.name);
  const written = reading.calls.map(({ name }) => name);
  if (JSON.stringify(written) !== JSON.stringify(names)) add('names', written, names);
  else {
    for (const [index, call] of reading.calls.entries()) {
      checkArguments(request, call, got[index]!.function.arguments, (field, ...rest) =>
        add(`call ${index}: ${field}`, ...rest),
      );
    }
  }
  if (choice.incomplete_tool_calls?.length) add('incomplete calls', [], choice.incomplete_tool_calls);
  checkDemand(
    request,
    // On channels a preamble may stand before the call, and within tags an answer.
    subject.format.channels !== null || subject.format.answer?.precedesCalls === true,
    message.reasoning ?? null,
    message.content,
    names,
    add,
  );
  const finish = names.length > 0 ? 'tool_calls' : 'stop';
  if (choice.finish_reason !== finish) add('finish_reason', finish, choice.finish_reason);
}

/** Tags around an answer that any text may spell. */
function spelledTags({ format, vocabulary }: Subject): string[] {
  if (format.answer || format.channels) return [];
  const entries = Object.entries(format.states.thinking[CONTENT]!.on);
  const edges = entries.filter(([, entry]) =>
    [entry].flat().some(({ do: actions }) => actions?.includes('edge')),
  );
  const texts = edges.flatMap(([terminal]) => spellings(format.terminals[terminal]!));
  return texts.filter((text) => !vocabulary.added.has(text));
}

/** What the mode asks for, whatever was written. */
function checkDemand(
  { calls, named, content, mode }: WalkRequest,
  mayPrecede: boolean,
  reasoning: string | null,
  answer: string | null,
  names: readonly string[],
  add: Add,
): void {
  // An answer that nothing is owed to may end while the model thinks.
  if (names.length < calls.least || names.length > calls.most) add('number of calls', calls, names.length);
  if (named !== null && names.some((name) => name !== named)) add('named', named, names);
  const isForced = calls.least > 0;
  if (isForced && !mayPrecede && answer !== null) add('content', null, answer);
  if (content === null || names.length > 0) return;
  if ('schema' in content) {
    let value: unknown;
    try {
      value = JSON.parse(answer ?? '');
    } catch {
      add('content', 'JSON', answer);
      return;
    }
    const problem = violation(content.schema, value);
    if (problem) add('content', problem, answer);
  } else if ('pattern' in content) {
    if (!new RegExp(`^(?:${content.pattern})$`, 'u').test(answer ?? ''))
      add('content', content.pattern, answer);
  } else if (!content.choices.includes(answer ?? '')) add('content', content.choices, answer);
  if (mode.start === 'closed' && reasoning !== null) add('reasoning', null, reasoning);
}

function checkArguments(request: WalkRequest, call: ReadCall, text: string, add: Add): void {
  const tool = request.tools.find(({ name }) => name === call.name);
  if (!tool) {
    add('name', 'an offered one', call.name);
    return;
  }
  let got: unknown;
  try {
    got = JSON.parse(text);
  } catch {
    add('arguments', 'JSON', text);
    return;
  }
  if (request.isHeld) {
    const problem = violation(tool.parameters, got);
    if (problem) add('arguments', problem, text);
  }
  if ('json' in call.arguments) {
    // What does not fit the schema, because it is not held to it, may be coerced.
    const { json } = call.arguments;
    const isAsWritten = request.isHeld || violation(tool.parameters, json) === null;
    if (isAsWritten && !isSame(json, got)) add('arguments', json, got);
    return;
  }
  if ('elements' in call.arguments) {
    const mayBeList = (name: string) => mayBeArray(tool.parameters, name);
    const written = { name: '', text: '', children: distinct(call.arguments.elements, mayBeList) };
    if (!isElementOf(written, got, isText)) add('arguments', call.arguments.elements, got);
    return;
  }
  const values = got as Record<string, unknown>;
  // Of a key that is written twice the last value holds.
  const parameters = [...new Map(call.arguments.parameters.map((entry) => [entry.key, entry])).values()];
  // An object has keys that are numbers before all others.
  const keys = Object.keys(Object.fromEntries(parameters.map(({ key }) => [key, null])));
  if (JSON.stringify(keys) !== JSON.stringify(Object.keys(values))) add('keys', keys, Object.keys(values));
  for (const { key, text: written, kind } of parameters) {
    if (!isText(written, values[key])) add(`value of ${key} (${kind})`, written, values[key]);
  }
}

/** Whether a value is the text, or what it says as JSON. */
const isText = (text: string, value: unknown) => value === text || isSame(parsed(text), value);

/** The JSON value that a text is; a symbol, which is like nothing else, for what is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return Symbol('no JSON');
  }
}

function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return Object.is(a, b) || a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every(
      (key) =>
        Object.hasOwn(b, key) &&
        isSame((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
    )
  );
}

const ajv = new Ajv2020({ strict: false, logger: false, allErrors: true, verbose: true });
formats.default(ajv);
const validators = new WeakMap<object, ValidateFunction>();

/** What is wrong with a value by Ajv, null if nothing is. */
function violation(schema: unknown, value: unknown): string | null {
  const key = schema as object;
  let validate = validators.get(key);
  if (!validate) {
    validate = ajv.compile(nullables(schema) as object);
    validators.set(key, validate);
  }
  if (validate(value)) return null;
  const errors = validate.errors!;
  // Ajv divides floating-point numbers, which have no such digits to tell; its word on what holds them is none then.
  const isVague = errors.some(
    ({ keyword, data }) => keyword === 'multipleOf' && Math.abs(Number(data)) > Number.MAX_SAFE_INTEGER,
  );
  return isVague ? null : ajv.errorsText(errors);
}

/** OpenAPI's `nullable`, which Ajv knows beside a single type only. */
function nullables(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(nullables);
  const { nullable, ...rest } = schema as Record<string, unknown>;
  const inner = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, nullables(value)]));
  return nullable === true && typeof rest.type === 'string' ? { anyOf: [inner, { type: 'null' }] } : inner;
}
