/**
 * What an output means, read without the parser: from how the family writes calls, and from the fact that an added
 * token never stands in text that a grammar led.
 */
import {
  type CallWriting,
  type ChannelWriting,
  DIGITS,
  type ParameterWriting,
  type ReasoningFormat,
  spellings,
  triggersOf,
} from '../../src/parser/format.ts';
import { readDelimited } from './delimited-reading.ts';
import { type ReadElement, readElements } from './element-reading.ts';
import { readKeywords } from './python-reading.ts';
import type { WalkRequest } from './request.ts';
import type { Subject } from './subject.ts';
import { UnreadableError } from './unreadable.ts';

export interface ReadCall {
  name: string;
  /** Each value as the JSON or the text that was written, by key; for JSON arguments the whole of it. */
  arguments:
    | { json: unknown }
    | { parameters: { key: string; text: string; kind: 'text' | 'json' }[] }
    | { elements: ReadElement[] };
}

export interface Reading {
  reasoning: string | null;
  content: string | null;
  calls: ReadCall[];
}

export function read(subject: Subject, request: WalkRequest, ids: readonly number[]): Reading {
  const ends = new Set(subject.eosTokenIds);
  const text = subject.vocabulary.textOf(ends.has(ids.at(-1)!) ? ids.slice(0, -1) : ids);
  const { channels } = subject.format;
  return channels ? readChannels(subject, request, channels.writing, text) : readTurn(subject, request, text);
}

function readTurn(subject: Subject, request: WalkRequest, text: string): Reading {
  const { reasoning, tools } = subject.format;
  const { start } = request.mode;
  let rest = text;
  let thought: string | null = null;
  let isBehindReasoning = false;
  const isImplied = start === 'free' && reasoning?.implicitStart === true && reasoning.thinkingByDefault;
  if (reasoning && (start === 'opened' || isImplied)) {
    const split = splitReasoning(subject, reasoning, text);
    thought = split.thought;
    if (split.rest === null) return { reasoning: thought || null, content: null, calls: [] };
    rest = split.rest;
    isBehindReasoning = true;
  }
  const reader = tools?.writing ? new CallsReader(subject, tools.writing, request) : null;
  const { content } = request.constraint;
  const isVerbatim = content !== null && content.kind !== 'json';
  rest = withoutAnswerTags(subject, rest, isVerbatim);
  const { segments, calls } = reader?.readAll(rest) ?? { segments: [rest], calls: [] };
  return {
    reasoning: thought || null,
    content: contentOf(subject, segments, isBehindReasoning && !isVerbatim),
    calls,
  };
}

/** The tags around an answer are left out, with the white space at them that is not of the answer. */
function withoutAnswerTags({ format, vocabulary }: Subject, text: string, isVerbatim: boolean): string {
  if (!format.answer) return text;
  const [start, end] = [vocabulary.markup(format.answer.start), vocabulary.markup(format.answer.end)];
  // Spelled, they are text.
  if (start === format.answer.start) return text;
  const messageEnd = vocabulary.markup(format.answer.messageEnd ?? '');
  let rest = text;
  const trimmed = rest.trimStart();
  if (trimmed.startsWith(start)) {
    rest = trimmed.slice(start.length);
    if (!isVerbatim) rest = rest.replace(/^[ \t\n\v\f\r]*/, (space) => space.replace(/[\r\n]/g, ''));
  }
  if (messageEnd !== '' && rest.endsWith(messageEnd)) {
    rest = rest.slice(0, -messageEnd.length);
    if (!isVerbatim) rest = trimSpaceEnd(rest);
  }
  const at = rest.indexOf(end);
  if (at < 0) return rest;
  const answer = rest.slice(0, at);
  return (isVerbatim ? answer : trimSpaceEnd(answer)) + rest.slice(at + end.length);
}

/** The first end marker that is not quoted ends the reasoning. */
function splitReasoning(subject: Subject, reasoning: ReasoningFormat, text: string) {
  const { vocabulary } = subject;
  const canBeQuoted = reasoning.terminals[reasoning.end]!.token !== 'never';
  // Markers that are no tokens by right count in any spelling.
  const marks = (terminal: string) => {
    const texts = spellings(reasoning.terminals[terminal]!);
    const marked = texts.map((text) => vocabulary.markup(text));
    return canBeQuoted ? marked : [...marked, ...texts];
  };
  const ends = marks(reasoning.end);
  const starts = marks(reasoning.start);
  let thought = '';
  for (let at = 0; at < text.length; ) {
    const marker = [...ends, ...starts].find((candidate) => text.startsWith(candidate, at));
    const isQuoted = canBeQuoted && marker && isBetweenBackticks(subject, text, at, at + marker.length);
    if (marker && !isQuoted) {
      if (ends.includes(marker)) {
        const whole = trimSpaceEnd(layout(subject, thought));
        return { thought: whole, rest: text.slice(at + marker.length) };
      }
      at += marker.length;
      continue;
    }
    const character = String.fromCodePoint(text.codePointAt(at)!);
    thought += character;
    at += character.length;
  }
  return { thought: isBlank(thought) ? '' : layout(subject, thought), rest: null };
}

/** Control tokens are no text: what stands before and behind them are neighbours. */
function isBetweenBackticks(subject: Subject, text: string, start: number, end: number): boolean {
  return (
    spelled(subject, text.slice(0, start)).endsWith('`') && spelled(subject, text.slice(end)).startsWith('`')
  );
}

/** Text as it is delivered: control tokens are nothing, line breaks at the beginning are layout. */
function layout(subject: Subject, text: string): string {
  const shown = spelled(subject, text);
  const visible = shown.search(/[^ \t\n\v\f\r]/);
  if (visible < 0) return '';
  return shown.slice(0, visible).replace(/[\r\n]/g, '') + shown.slice(visible);
}

/** Added tokens as their texts, other than control tokens, which no text shows. */
function spelled(subject: Subject, text: string): string {
  const { vocabulary, format } = subject;
  const declared = Object.values(format.terminals).flatMap(spellings);
  return Array.from(text, (character) => {
    const id = vocabulary.markOf(character);
    if (id === undefined) return character;
    const written = vocabulary.reader.text(id);
    return vocabulary.reader.isSpecial(id) && !declared.some((marker) => marker.includes(written))
      ? ''
      : written;
  }).join('');
}

const isBlank = (text: string) => !/[^ \t\n\v\f\r]/.test(text);
const trimSpaceEnd = (text: string) => text.replace(/[ \t\n\v\f\r]+$/, '');

/** Text around calls: white space before and between calls is layout, and line breaks behind the reasoning. */
function contentOf(subject: Subject, segments: readonly string[], isBehindReasoning: boolean): string | null {
  const [only] = segments;
  if (segments.length === 1 && isBlank(only!)) return isBehindReasoning || only === '' ? null : only!;
  let content = '';
  for (const [index, segment] of segments.entries()) {
    if (isBlank(segment)) continue;
    const kept = index < segments.length - 1 ? trimSpaceEnd(segment) : segment;
    content += index === 0 && isBehindReasoning ? layout(subject, kept) : spelled(subject, kept);
  }
  return content === '' ? null : content;
}

const KEY = '\u0000key\u0000';
/** How a value may stand in a parameter. */
const FORMS = [
  ['text', 'string'],
  ['json', 'number'],
  ['json', 'boolean'],
  ['json', 'null'],
  ['json', 'array'],
  ['json', 'object'],
] as const;

class CallsReader {
  readonly #request: WalkRequest;
  readonly #writing: CallWriting;
  readonly #markup: (text: string) => string;

  constructor({ vocabulary }: Subject, writing: CallWriting, request: WalkRequest) {
    this.#request = request;
    this.#writing = writing;
    this.#markup = (text) => vocabulary.markup(text);
  }

  /** @returns the calls, and the text before, between and behind them */
  readAll(text: string): { segments: string[]; calls: ReadCall[] } {
    const { blockStart, blockEnd, separator } = this.#writing;
    const segments: string[] = [];
    const calls: ReadCall[] = [];
    const names = this.#request.tools.map(({ name }) => name);
    const openers = triggersOf(this.#writing, names).map((trigger) => this.#markup(trigger));
    // Content that is held to a form stands there instead of calls, and may spell what begins one.
    const isContent =
      this.#request.content !== null && !openers.some((opener) => text.trimStart().startsWith(opener));
    if (this.#request.tools.length === 0 || isContent) return { segments: [text], calls };
    let at = 0;
    let from = 0;
    for (;;) {
      // Where only the end of the trigger's text tells a call, it is looked for in text; as a token it is unique.
      const places = openers.map((opener) => text.indexOf(opener, from)).filter((place) => place >= 0);
      if (places.length === 0) break;
      const found = Math.min(...places);
      // Without a block only the whole beginning tells: JSON that the answer is held to may begin with the same key.
      if (blockStart === '' && this.#startOf(text, found) === null) {
        from = found + 1;
        continue;
      }
      segments.push(text.slice(at, found));
      at = this.#expect(text, found, blockStart);
      for (;;) {
        const { call, end } = this.#readCall(text, at);
        calls.push(call);
        at = end;
        if (blockStart === '') break;
        const next = this.#markup(separator);
        if (!text.startsWith(next, at) || this.#startOf(text, at + next.length) === null) break;
        at += next.length;
      }
      at = this.#expect(text, at, blockEnd.trimEnd());
      // Without a block calls follow each other behind their separator, which need not begin with the trigger.
      if (blockStart === '' && this.#startOf(text, at + this.#markup(separator).length) !== null) {
        if (text.startsWith(this.#markup(separator), at)) at += this.#markup(separator).length;
      }
      from = at;
    }
    const rest = text.slice(at);
    // A separator that no call follows is as good as none.
    const mark = separator.trim();
    const isSeparator = blockStart === '' && mark !== '' && isBlank(rest.replaceAll(mark, ''));
    segments.push(calls.length > 0 && isSeparator ? '' : rest);
    return { segments, calls };
  }

  #expect(text: string, at: number, markup: string): number {
    const marked = this.#markup(markup);
    if (!text.startsWith(marked, at)) {
      throw new UnreadableError(
        `${JSON.stringify(markup)} is missing at ${at}, before ${JSON.stringify(text.slice(at, at + 40))}`,
      );
    }
    return at + marked.length;
  }

  /** The function whose call begins here. */
  #startOf(text: string, at: number): { name: string; end: number } | null {
    let longest: { name: string; end: number } | null = null;
    for (const { name } of this.#request.tools) {
      let end = at;
      const fits = this.#writing.callStart(name).every((part) => {
        const found =
          part === DIGITS ? (/^\d{1,3}/.exec(text.slice(end, end + 3))?.[0] ?? null) : this.#markup(part);
        if (found === null || !text.startsWith(found, end)) return false;
        end += found.length;
        return true;
      });
      if (fits && end > (longest?.end ?? at)) longest = { name, end };
    }
    return longest;
  }

  #readCall(text: string, at: number): { call: ReadCall; end: number } {
    const start = this.#startOf(text, at);
    if (!start)
      throw new UnreadableError(`No call begins at ${at}: ${JSON.stringify(text.slice(at, at + 60))}`);
    const { arguments: style, callEnd, blockStart } = this.#writing;
    // White space behind the last closer is text, if text follows.
    const closer = blockStart === '' ? callEnd.trimEnd() : callEnd;
    if (style === 'json') {
      const end = jsonEnd(text, start.end);
      const json: unknown = JSON.parse(text.slice(start.end, end));
      return { call: { name: start.name, arguments: { json } }, end: this.#expect(text, end, closer) };
    }
    if (style === 'python') {
      const { values, end } = readKeywords(text, start.end);
      const call = { name: start.name, arguments: { json: values } };
      return { call, end: this.#expect(text, end, closer) };
    }
    if ('delimiter' in style) {
      const { value, end } = readDelimited(text, start.end, this.#markup(style.delimiter));
      const call = { name: start.name, arguments: { json: value } };
      return { call, end: this.#expect(text, end, closer) };
    }
    if (style.elements) {
      const marks = {
        open: this.#markup(style.open(KEY, 'text').split(KEY)[0]!),
        close: this.#markup(style.close),
        end: this.#markup(style.elements.closeEnd),
      };
      const { elements, end } = readElements(text, start.end, marks);
      return { call: { name: start.name, arguments: { elements } }, end: this.#expect(text, end, closer) };
    }
    const { parameters, end } = this.#readParameters(text, start.end, style);
    return { call: { name: start.name, arguments: { parameters } }, end: this.#expect(text, end, closer) };
  }

  #readParameters(text: string, from: number, style: ParameterWriting) {
    const { open, close, separator, verbatim, escapeKey } = style;
    const parameters: { key: string; text: string; kind: 'text' | 'json' }[] = [];
    // White space before the closer is markup where it is there.
    const border = /^\s*/.exec(close)![0];
    const closer = this.#markup(close.slice(border.length));
    let at = from;
    for (;;) {
      const next = parameters.length === 0 ? at : at + this.#markup(separator).length;
      const opened = FORMS.flatMap(([kind, type]) => {
        const [before, after] = open(KEY, kind, type)
          .split(KEY)
          .map((part) => this.#markup(part));
        if (!text.startsWith(before!, next)) return [];
        const end = text.indexOf(after!, next + before!.length);
        const key = text.slice(next + before!.length, end);
        return end < 0 ? [] : [{ kind, key: escapeKey ? unescaped(key) : key, end: end + after!.length }];
      });
      // What follows a key comes in none.
      const [parameter] = opened.sort((a, b) => a.end - b.end);
      if (!parameter) return { parameters, end: at };
      // The closer may stand in what is verbatim.
      const marked = verbatim && text.startsWith(verbatim.start, parameter.end) ? verbatim.end : '';
      const from = marked === '' ? parameter.end : text.indexOf(marked, parameter.end) + marked.length;
      const end = text.indexOf(closer, from);
      if (end < 0) throw new UnreadableError(`The value of ${parameter.key} does not end.`);
      const value = text.slice(parameter.end, end);
      const isBordered = border !== '' && value.endsWith(border);
      parameters.push({
        key: parameter.key,
        kind: parameter.kind,
        text: verbatimText(isBordered ? value.slice(0, -border.length) : value, verbatim),
      });
      at = end + closer.length;
    }
  }
}

/** A key in an attribute. */
const unescaped = (key: string) => key.replaceAll('&quot;', '"').replaceAll('&amp;', '&');

/** A text without the marks between which it stands as it is. */
function verbatimText(value: string, marks: ParameterWriting['verbatim']): string {
  const isMarked = marks && value.startsWith(marks.start) && value.endsWith(marks.end);
  return isMarked ? value.slice(marks.start.length, -marks.end.length) : value;
}

/** Where the JSON object that begins at `from` ends. */
export function jsonEnd(text: string, from: number): number {
  let depth = 0;
  let inString = false;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') depth++;
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1;
  }
  throw new UnreadableError(`JSON that begins at ${from} does not end.`);
}

/** Messages on channels; the model's end of turn ends the last one. */
function readChannels(
  subject: Subject,
  { tools }: WalkRequest,
  writing: ChannelWriting,
  text: string,
): Reading {
  const { vocabulary } = subject;
  const mark = (part: string) => vocabulary.markup(part);
  const thoughts: string[] = [];
  const contents: string[] = [];
  const calls: ReadCall[] = [];
  const next = mark(writing.end) + mark(writing.next);
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf(next, at);
    const message = text.slice(at, end < 0 ? text.length : end);
    at = end < 0 ? text.length : end + next.length;
    const body = (start: string) =>
      message.startsWith(mark(start)) ? message.slice(mark(start).length) : null;
    const thought = body(writing.reasoningStart);
    const content =
      body(writing.preambleStart) ?? body(writing.contentStart) ?? body(writing.constrainedStart);
    const called = tools.find(({ name }) => body(writing.callStart(name)) !== null);
    if (called) {
      const written = body(writing.callStart(called.name))!;
      const end = jsonEnd(written, 0);
      if (written.slice(end) !== mark(writing.callEnd ?? ''))
        throw new UnreadableError(`Behind the arguments: ${written.slice(end)}`);
      const json: unknown = JSON.parse(written.slice(0, end));
      calls.push({ name: called.name, arguments: { json } });
    } else if (thought !== null) thoughts.push(thought);
    else if (content !== null) contents.push(content);
    else throw new UnreadableError(`A message on no channel: ${JSON.stringify(message.slice(0, 60))}`);
  }
  return { reasoning: joined(subject, thoughts), content: joined(subject, contents), calls };
}

/** Blocks with one line break between them. */
function joined(subject: Subject, blocks: readonly string[]): string | null {
  const shown = blocks.map((block) => spelled(subject, block)).filter((block) => !isBlank(block));
  return shown.length === 0 ? null : shown.join('\n');
}
