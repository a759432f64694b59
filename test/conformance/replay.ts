/** Runs cases through the public output parser, under every way to cut the stream that a case names. */
import { JsonCloser } from '../../src/chat/json-closer.ts';
import { createOutputParser, type OutputParserOptions } from '../../src/chat/output-parser.ts';
import type { ChatCompletionChoice, ChatCompletionChunkChoice } from '../../src/chat/types.ts';
import { loadFormat } from '../../src/formats/index.ts';
import { spellings } from '../../src/parser/format.ts';
import type { ParserDelta } from '../../src/parser/parser.ts';
import type { TokenTable } from '../../src/protocol.ts';
import type { Case, Expected, ExpectedCall } from './case.ts';
import { MadeVocabulary } from './vocabulary.ts';

export interface Mismatch {
  chunking: string;
  field: string;
  expected: unknown;
  got: unknown;
}

interface Chunking {
  name: string;
  deltas: ParserDelta[];
  usesIds: boolean;
}

interface Replay {
  choice: ChatCompletionChoice;
  chunks: ChatCompletionChunkChoice[];
}

/** All mismatches of a case; none means that it passes. `cuts: false` leaves out the cuts of its text in two. */
export async function replay(test: Case, { cuts = true } = {}): Promise<Mismatch[]> {
  const mismatches: Mismatch[] = [];
  const tokens = await tokenize(test);
  const prompt = test.prompt_tail === null ? null : { text: test.prompt_tail };
  const base = optionsOf(test);
  for (const { name, deltas, usesIds } of chunkings(test, tokens.ids, cuts)) {
    const add = (field: string, expected: unknown, got: unknown) =>
      mismatches.push({ chunking: name, field, expected, got });
    try {
      const options = usesIds
        ? { ...base, tokens: tokens.table, prompt: prompt && { ids: tokens.prompt } }
        : { ...base, prompt };
      const result = await run(options, deltas, test.finish);
      compareChoice(test, result, add);
      checkStream(test, result, add);
    } catch (error) {
      add('exception', 'none', error instanceof Error ? (error.stack ?? error.message) : error);
    }
  }
  return mismatches;
}

/** The answer of a case whose tokens come one by one. */
export async function replayOnce(test: Case): Promise<Expected> {
  const { ids, prompt, table } = await tokenize(test);
  const options = {
    ...optionsOf(test),
    tokens: table,
    prompt: test.prompt_tail === null ? null : { ids: prompt },
  };
  const deltas = ids.map((id) => ({ ids: [id] }));
  return answerOf((await run(options, deltas, test.finish)).choice);
}

/** Whether an answer is one of those that a case takes for right. */
export const isRight = (test: Case, got: Expected): boolean =>
  answersTo(test).some((expected) => differing(expected, got, test.compare).length === 0);

const answersTo = (test: Case): Expected[] => [
  test.expected,
  ...(test.accept ?? []).map((other) => ({ ...test.expected, ...other })),
];

/** Mismatches of a case that comes as these tokens, so many a delta; `sizes` are taken in turn. */
export async function replayTokens(
  test: Case,
  { ids, prompt, table }: Tokens,
  sizes: readonly number[],
): Promise<Mismatch[]> {
  const mismatches: Mismatch[] = [];
  const add = (field: string, expected: unknown, got: unknown) =>
    mismatches.push({ chunking: `ids by ${sizes.join(', ')}`, field, expected, got });
  const deltas: ParserDelta[] = [];
  for (let at = 0, turn = 0; at < ids.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    deltas.push({ ids: ids.slice(at, at + size) });
    at += size;
  }
  const options = {
    ...optionsOf(test),
    tokens: table,
    prompt: test.prompt_tail === null ? null : { ids: prompt },
  };
  const result = await run(options, deltas, test.finish);
  compareChoice(test, result, add);
  checkStream(test, result, add);
  return mismatches;
}

/** What the request of a case says to the parser. */
export function optionsOf(test: Case): OutputParserOptions {
  const { request } = test;
  const stop = request?.stop ?? [];
  return {
    reasoningParser: test.reasoning_parser,
    toolParser: test.tool_parser,
    tools: test.tools as OutputParserOptions['tools'],
    toolChoice: request?.tool_choice === 'none' ? 'none' : 'auto',
    templateArguments: templateArgumentsOf(test),
    stop: typeof stop === 'string' ? [stop] : stop,
    parallelToolCalls: request?.parallel_tool_calls ?? true,
    includeReasoning: request?.include_reasoning ?? true,
  };
}

/** Variables of the chat template that a case's request sets. */
export const templateArgumentsOf = ({ thinking, request }: Case): Record<string, unknown> => ({
  ...(thinking !== null && { thinking, enable_thinking: thinking }),
  ...request?.chat_template_kwargs,
});

/** An output and the end of its prompt as tokens of a vocabulary. */
export interface Tokens {
  ids: number[];
  prompt: number[];
  table: TokenTable;
}

/** The output as token ids: given pieces, else one token for a marker and one a character. */
export async function tokenize(test: Case): Promise<Tokens> {
  const vocabulary = new MadeVocabulary();
  const format = await loadFormat({ reasoning: test.reasoning_parser, tools: test.tool_parser });
  const declared = Object.values(format.terminals).filter(({ token }) => token !== 'never');
  const markers = declared.flatMap(spellings).sort((a, b) => b.length - a.length);
  for (const marker of markers) vocabulary.special(marker);
  const split = (text: string): number[] => {
    const ids: number[] = [];
    for (let rest = text; rest !== ''; ) {
      const marker = markers.find((candidate) => rest.startsWith(candidate));
      const piece = marker ?? String.fromCodePoint(rest.codePointAt(0)!);
      ids.push(marker ? vocabulary.special(piece) : vocabulary.text(piece));
      rest = rest.slice(piece.length);
    }
    return ids;
  };
  const prompt = split(test.prompt_tail ?? '');
  let ids: number[];
  if (test.request?.pieces) {
    ids = test.request.pieces.map(({ text, special }) =>
      special ? vocabulary.special(text) : vocabulary.text(text),
    );
  } else if (test.request?.byte_chunks_hex) {
    ids = test.request.byte_chunks_hex.map((hex) => vocabulary.bytes(Buffer.from(hex, 'hex')));
  } else ids = split(test.output);
  return { ids, prompt, table: vocabulary.table };
}

function* chunkings(test: Case, ids: number[], cuts: boolean): Generator<Chunking> {
  const { output, chunks } = test;
  if (!test.ids_only) {
    const text = (name: string, pieces: readonly string[]): Chunking => ({
      name,
      deltas: pieces.map((piece) => ({ text: piece })),
      usesIds: false,
    });
    yield text('whole', [output]);
    if (chunks) yield text('chunks', chunks);
    for (let at = 1; cuts && at < output.length; at++)
      yield text(`cut at ${at}`, [output.slice(0, at), output.slice(at)]);
    yield text('characters', [...output]);
  }
  for (const size of [1, 3]) {
    const deltas: ParserDelta[] = [];
    for (let at = 0; at < ids.length; at += size) deltas.push({ ids: ids.slice(at, at + size) });
    yield { name: `ids by ${size}`, deltas, usesIds: true };
  }
}

async function run(
  options: OutputParserOptions,
  deltas: ParserDelta[],
  finish: Case['finish'],
): Promise<Replay> {
  const parser = await createOutputParser(options);
  const chunks: ChatCompletionChunkChoice[] = [];
  for (const delta of deltas) if (!parser.ended) chunks.push(...parser.feed(delta));
  if (!parser.ended) chunks.push(...parser.finish(finish === 'length' ? 'length' : 'stop'));
  return { choice: parser.choice, chunks };
}

type Add = (field: string, expected: unknown, got: unknown) => void;

function compareChoice(test: Case, { choice }: Replay, add: Add): void {
  const { message } = choice;
  const got = answerOf(choice);
  const differences = answersTo(test).map((expected) => differing(expected, got, test.compare));
  if (differences.every((fields) => fields.length > 0)) {
    for (const field of differences[0]!) add(field, test.expected[field] ?? null, got[field]);
  }
  message.tool_calls?.forEach(({ id, function: call }, index) => {
    const text = test.arguments_text?.[index];
    if (text !== undefined && text !== call.arguments) add(`arguments_text[${index}]`, text, call.arguments);
    const order = test.key_order?.[index];
    const keys = Object.keys(JSON.parse(call.arguments) as object);
    if (order && order.join() !== keys.join()) add(`key_order[${index}]`, order, keys);
    if (test.ids?.[index] !== undefined && test.ids[index] !== id) add(`ids[${index}]`, test.ids[index], id);
  });
}

/** What a case's expected answer is compared with. */
export function answerOf({ message, incomplete_tool_calls, finish_reason }: ChatCompletionChoice): Expected {
  return {
    reasoning: message.reasoning ?? null,
    content: message.content,
    tool_calls: (message.tool_calls ?? []).map(({ function: call }) => ({
      name: call.name,
      arguments: JSON.parse(call.arguments) as unknown,
    })),
    incomplete_tool_calls: (incomplete_tool_calls ?? []).map(({ function: call }) => ({
      name: call.name,
      arguments: closed(call.arguments),
    })),
    finish_reason,
  };
}

function differing(expected: Expected, got: Expected, compare: Case['compare']): (keyof Expected)[] {
  const fields: (keyof Expected)[] = [];
  for (const field of ['reasoning', 'content'] as const) {
    if (comparable(expected[field], compare) !== comparable(got[field], compare)) fields.push(field);
  }
  for (const field of ['tool_calls', 'incomplete_tool_calls'] as const) {
    if (!equalCalls(expected[field] ?? [], got[field] ?? [])) fields.push(field);
  }
  if (expected.finish_reason !== got.finish_reason) fields.push('finish_reason');
  return fields;
}

function comparable(text: string | null, compare: Case['compare']): string | null {
  if (compare === 'exact') return text;
  const trimmed = (text ?? '').trim();
  return compare === 'collapse' ? trimmed.replace(/\s+/g, ' ') : trimmed;
}

const equalCalls = (a: ExpectedCall[], b: ExpectedCall[]) =>
  a.length === b.length &&
  a.every((call, index) => call.name === b[index]!.name && sameValue(call.arguments, b[index]!.arguments));

function sameValue(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => sameValue((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]))
  );
}

function closed(text: string): unknown {
  const closer = new JsonCloser();
  closer.push(text);
  return JSON.parse(text + closer.closers()) as unknown;
}

/** What holds for every stream, and what this case asks of its own. */
function checkStream(test: Case, { chunks }: Replay, add: Add): void {
  const finishes = chunks.filter(({ finish_reason }) => finish_reason !== null);
  if (finishes.length !== 1) add('finish_reason count', 1, finishes.length);
  const indices: number[] = [];
  const closers = new Map<number, { text: string; deltas: number }>();
  let contentDeltas = 0;
  for (const { delta } of chunks) {
    if (delta.content) contentDeltas++;
    if (delta.tool_calls?.length === 0) add('empty tool_calls', 'none', '[]');
    for (const call of delta.tool_calls ?? []) {
      const known = closers.get(call.index);
      if (!known) {
        indices.push(call.index);
        if (!call.id || !call.function?.name || call.type !== 'function')
          add('first call delta', 'id, type, name', call);
      } else if (call.id || call.function?.name) add('name_once', 'no name or id again', call);
      const state = known ?? { text: '', deltas: 0 };
      closers.set(call.index, state);
      const piece = call.function?.arguments ?? '';
      if (piece === '') continue;
      state.text += piece;
      state.deltas++;
      try {
        closed(state.text);
      } catch {
        add('closable arguments', 'JSON after closers', state.text);
      }
    }
  }
  const { stream } = test;
  if (stream?.tool_index && stream.tool_index.join() !== indices.join())
    add('tool_index', stream.tool_index, indices);
  // How many deltas come out depends on how many go in.
  const isFine = test.chunks === null;
  const least = stream?.min_argument_deltas;
  if (isFine && least !== undefined && chunks.length > 4) {
    const most = Math.max(0, ...[...closers.values()].map(({ deltas }) => deltas));
    if (most < least) add('min_argument_deltas', least, most);
  }
  if (
    isFine &&
    stream?.min_content_deltas !== undefined &&
    chunks.length > 4 &&
    contentDeltas < stream.min_content_deltas
  ) {
    add('min_content_deltas', stream.min_content_deltas, contentDeltas);
  }
}
