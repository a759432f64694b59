/**
 * Runs a format over a stream: reads text and markers in the current state, follows its transitions and says
 * what happened. All input is one line of text; a marker that is a token of its own is a stretch of it whose
 * meaning is settled. Going back to where a hold began is then setting a position.
 */
import type { CallReader, CallSink } from './call-reader.ts';
import { Calls } from './calls.ts';
import type { EndOfStream, ParserEvent } from './events.ts';
import {
  type Action,
  CONTENT,
  type Guard,
  type MessageFormat,
  REASONING,
  type State,
  type States,
  spellings,
  type Transition,
} from './format.ts';
import { Input, type Mark } from './input.ts';
import { Layout } from './layout.ts';
import { type Literal, type Match, Matcher, type Piece } from './matcher.ts';
import { OWNERS, type Owners } from './owners.ts';
import type { SchemaView } from './schema.ts';

/** More held text than this is no call, whatever it says. */
const HOLD_LIMIT = 65536;
/**
 * Holds that may reach the limit at first, and again with each {@link HOLD_LIMIT} of the stream. Their text is read
 * twice; where openers stand close together, each of them could have it read again.
 */
const HOLDS_AT_LIMIT = 4;
/** Holds that may be open, one inside of the text of another, when the stream ends. */
const HOLDS_AT_END = 32;
/** More text than this where a name or a header should be is none. */
const NAME_LIMIT = 256;

export interface MachineOptions {
  format: MessageFormat;
  states: States;
  start: string;
  /** Parameter schemas by the names of the declared functions. */
  tools: ReadonlyMap<string, SchemaView>;
  /** Spellings of markers that are recognised by token id, and therefore not in text. */
  byToken: ReadonlySet<string>;
  /** Control tokens that other markers are spelled with. */
  pieces: ReadonlyMap<string, readonly Piece[]>;
  /** Calls of the conversation before this message. */
  callsInHistory: number;
}

interface Hold {
  start: number;
  openerEnd: number;
  state: string;
  /** The first mark after the opener. */
  mark: number;
  last: string;
  nesting: number;
  needsDeclared: boolean;
  onCommit: readonly Action[];
  /** Held text that is no longer in the buffer. */
  chunks: string[];
  owned: Owners;
}

export class Machine {
  readonly #options: MachineOptions;
  readonly #layout: Layout;
  readonly #matchers = new Map<string, Matcher>();
  readonly #sink: CallSink;
  #events: ParserEvent[] = [];

  #stateName: string;
  #state: State;
  #matcher: Matcher;

  readonly #input = new Input();
  #hold: Hold | null = null;
  /** Holds that reached the limit. */
  #overruns = 0;
  /** Up to this position in the stream no further hold begins: its openers are text. */
  #unheldUntil = 0;
  #isEnded = false;
  #owned: Owners = { reasoning: 0, content: 0, call: 0, markup: 0 };

  /** The last character of text in this state; empty at the beginning. */
  #last = '';
  /** What stands before, white space aside: the beginning of output or answer, a call, or text. */
  #before: 'start' | 'call' | 'text' = 'start';
  /** Text of the name or key that is being read. */
  #collected = '';
  #nesting = 0;

  readonly #calls: Calls;
  #reader: CallReader | null = null;
  /** The reader has had white space only. */
  #isFresh = false;

  constructor(options: MachineOptions) {
    this.#options = options;
    const { channels, isVerbatim } = options.format;
    this.#layout = new Layout((event) => this.#events.push(event), channels?.joiner ?? '', isVerbatim);
    this.#stateName = options.start;
    this.#state = options.states[options.start]!;
    this.#matcher = this.#matcherOf(options.start);
    if (this.#state.text === 'reasoning') this.#layout.reasoningStart();
    this.#calls = new Calls({
      format: options.format.tools,
      tools: options.tools,
      inHistory: options.callsInHistory,
      emit: (event) => this.#events.push(event),
      tokens: () => this.#input.tokensRead(),
    });
    this.#sink = {
      start: (name) => this.#startCall(name, name),
      arguments: (json) => this.#calls.arguments(json),
      end: () => this.#endCall('call-end'),
    };
  }

  get reasoningTokens(): number {
    return this.#input.positions.counted;
  }

  get inReasoning(): boolean {
    return (this.#hold?.state ?? this.#stateName) === REASONING;
  }

  /** Every character that was read, once. */
  get owners(): Owners {
    const { reasoning, content, call, markup } = this.#owned;
    const dropped = this.#layout.dropped;
    return {
      reasoning: reasoning - dropped.reasoning,
      content: content - dropped.content,
      call,
      markup: markup + dropped.reasoning + dropped.content,
    };
  }

  /** Text of the answer that the model does not write, because the prompt has it. */
  preface(text: string): void {
    this.#layout.text('content', text, 0);
  }

  appendText(text: string): void {
    this.#input.append(text);
  }

  /** A control token that is part of a marker. */
  appendControl(text: string): void {
    this.#input.appendControl(text);
  }

  /** A marker token with its text. */
  appendMark(terminal: string, text: string): void {
    this.#input.appendMark(terminal, text);
  }

  /** The prompt's last turn as far as it goes: read, but nobody's output. */
  readPrompt(): void {
    while (this.#step(false));
    this.#trim();
    this.#input.positions.skip(this.#input.end);
    this.#takeEvents();
  }

  /** The output goes on inside a text that the prompt has, and that ends so. */
  resume(text: string): void {
    this.#layout.resume();
    this.#last = text.at(-1) ?? '';
    this.#before = 'text';
  }

  /** The text appended since the last call of this is one token's. */
  endToken(): void {
    this.#input.positions.add(this.#input.end);
  }

  /** Text that came late belongs to the token before. */
  extendToken(): void {
    this.#input.positions.extend(this.#input.end);
  }

  /** Reads what was appended, as far as its meaning is certain. */
  run(): ParserEvent[] {
    while (this.#step(false));
    this.#trim();
    this.#calls.flush();
    return this.#takeEvents();
  }

  finish(end: EndOfStream): ParserEvent[] {
    this.#isEnded = end !== 'stop';
    let atEnd = 0;
    do {
      while (this.#step(true));
      if (!this.#hold) break;
      if (end === 'stop') {
        if (++atEnd >= HOLDS_AT_END) this.#unheldUntil = this.#input.end;
        this.#release();
      } else if (!this.#reader?.begin?.()) this.#dropHold(this.#hold);
    } while (end === 'stop');
    if (end === 'stop' && this.#state.text === 'name') this.#salvage();
    if (!this.#calls.isOpen && this.#reader) {
      if (end === 'stop') this.#giveBack(this.#reader);
      else this.#reader.begin?.();
    }
    if (this.#calls.isOpen) {
      if (this.#reader?.isWhole) this.#reader.close();
      else this.#calls.end('call-incomplete');
    }
    this.#layout.finish();
    return this.#takeEvents();
  }

  #takeEvents(): ParserEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** Forgets what was read, keeping what a release would need. */
  #trim(): void {
    const input = this.#input;
    if (input.at > 0) {
      const read = input.cut();
      this.#hold?.chunks.push(read);
    }
    if (!this.#hold) input.forget();
  }

  /** Reads a run of text, or one marker. False when there is nothing to read, or only what must be waited for. */
  #step(isFinal: boolean): boolean {
    const mark = this.#input.nextMark;
    const end = mark ? mark.start - this.#input.base : this.#input.text.length;
    const limit = this.#hold ? Math.min(end, this.#hold.start + HOLD_LIMIT - this.#input.base) : end;
    if (this.#input.at < limit) {
      const isSettled = limit === end && (isFinal || mark !== undefined);
      const hasRead =
        this.#state.text === 'call' && this.#reader
          ? this.#readCall(this.#reader, limit, isSettled)
          : this.#readText(limit, isSettled, isFinal);
      if (hasRead || limit === end) return hasRead;
    }
    if (limit < end) {
      this.#overrun(this.#hold!);
      return true;
    }
    if (!mark || this.#mustWait(mark.terminal, mark.end - this.#input.base, isFinal)) return false;
    this.#input.mark++;
    this.#readMark(mark);
    return true;
  }

  #readText(limit: number, isSettled: boolean, isFinal: boolean): boolean {
    const { text, at } = this.#input;
    const match = this.#whole(isSettled, (isFinal) => this.#matcher.find(text, at, limit, isFinal));
    const end = match ? match.at : limit;
    if (end > this.#input.at && !this.#text(end)) return true;
    if (!match) return true;
    if (match.length > 0 && this.#mustWait(match.terminal, end + match.length, isFinal)) return false;
    return this.#meet(match, isSettled, limit);
  }

  /** The character after the marker decides whether it is quoted, and has not come yet. */
  #mustWait(terminal: string, end: number, isFinal: boolean): boolean {
    if (isFinal || this.#last !== '`' || end < this.#input.text.length) return false;
    const entry = this.#state.on[terminal];
    return entry !== undefined && !Array.isArray(entry) && (entry as Transition).when === 'unquoted';
  }

  /** What is found; of a stream that was cut, half a marker only where it is none of the text. */
  #whole(isSettled: boolean, find: (isFinal: boolean) => Match | null): Match | null {
    const match = find(isSettled && !this.#isEnded);
    const isHalf = match?.length === 0 && isSettled;
    return isHalf && !this.#isMarkup(match) ? find(true) : match;
  }

  #markerHere(limit: number, isSettled: boolean): Match | null {
    const { text, at } = this.#input;
    return this.#whole(isSettled, (isFinal) => this.#matcher.matchAt(text, at, limit, isFinal));
  }

  /** Whether half a marker at the end of a cut stream is none of the text. */
  #isMarkup({ at, terminal }: Match): boolean {
    if (!Object.hasOwn(this.#state.on, terminal)) return false;
    const isInside = this.#calls.isOpen || this.#hold !== null || this.#state.otherwise !== undefined;
    const isLabel = terminal === this.#options.format.reasoning?.label && this.#last === '';
    return isInside || isLabel || this.#input.beginsControl(at);
  }

  #readCall(reader: CallReader, limit: number, isSettled: boolean): boolean {
    const before = this.#events.length;
    const from = this.#input.at;
    if (this.#isFresh) {
      // A marker may begin like a value.
      const match = this.#markerHere(limit, isSettled);
      if (match) return this.#meet(match, isSettled, limit);
    }
    this.#input.at = reader.read(this.#input.text, from, limit);
    this.#owned.call += this.#input.at - from;
    if (this.#isFresh && /\S/.test(this.#input.text.slice(from, this.#input.at))) this.#isFresh = false;
    for (const event of this.#events.slice(before)) event.tokens = this.#input.tokensRead();
    if (reader.isDone) {
      this.#reader = null;
      this.#enter(this.#state.done ?? CONTENT);
      return true;
    }
    if (this.#input.at === limit) return true;
    const match = this.#markerHere(limit, isSettled);
    if (match) return this.#meet(match, isSettled, limit);
    this.#failCall(reader);
    return true;
  }

  /** A literal in the text. False when it is cut off by the end of what has come so far. */
  #meet(match: Match, isSettled: boolean, limit: number): boolean {
    if (match.length === 0) {
      if (!isSettled) return false;
      this.#owned.markup += limit - this.#input.at;
      this.#input.at = limit;
      return true;
    }
    const end = match.at + match.length;
    if (!this.#apply(match.terminal, end)) this.#readUnmapped(end);
    return true;
  }

  #readMark(mark: Mark): void {
    const end = mark.end - this.#input.base;
    if (this.#state.text === 'call' && this.#reader?.inString) {
      this.#reader.read(this.#input.text, this.#input.at, end);
      this.#owned.call += end - this.#input.at;
      this.#input.at = end;
    } else if (!this.#apply(mark.terminal, end)) this.#readUnmapped(end);
  }

  /** A marker that means nothing in this state is text. */
  #readUnmapped(end: number): void {
    if (this.#state.text === 'call' && this.#reader) this.#failCall(this.#reader);
    else if (!this.#text(end)) {
      // The text belongs to another state, where the marker may mean something.
      const mark = this.#input.lastMark;
      if (mark?.start === this.#input.position) this.#input.mark--;
    }
  }

  /** Text up to `end` in the current state. False when it belongs to another state and was not read. */
  #text(end: number): boolean {
    const from = this.#input.at;
    const text = this.#input.text.slice(from, end);
    const role = this.#state.text;
    if (role === 'content' && this.#state.otherwise !== undefined) {
      const visible = text.search(/\S/);
      if (visible >= 0) {
        if (visible > 0) this.#deliver(role, from + visible);
        this.#enter(this.#state.otherwise);
        return false;
      }
    }
    if (role === 'content' || role === 'reasoning') {
      this.#deliver(role, end);
      return true;
    }
    if (role === 'value') {
      this.#calls.parameters?.text(text);
      this.#last = text[text.length - 1] ?? '';
    } else if (role === 'name' && this.#collected.length <= NAME_LIMIT) return this.#collect(text);
    else if (role === 'layout') {
      const visible = text.search(/\S/);
      if (visible >= 0) {
        if (this.#hold) this.#release();
        else {
          this.#owned.markup += visible;
          this.#input.at = from + visible;
          this.#enter(this.#state.otherwise ?? CONTENT);
        }
        return false;
      }
    }
    this.#owned[OWNERS[role]] += text.length;
    this.#input.at = end;
    return true;
  }

  /** Text of the answer, or of what is thought before it, up to `end`. */
  #deliver(role: 'content' | 'reasoning', end: number): void {
    const from = this.#input.at;
    const text = this.#input.text.slice(from, end);
    const to = this.#input.base + end;
    if (this.#stateName === REASONING) this.#input.positions.count(this.#input.base + from, to);
    this.#layout.text(role, text, this.#input.positions.readAt(to));
    this.#last = text[text.length - 1] ?? '';
    if (this.#before !== 'text' && /\S/.test(text)) this.#before = 'text';
    this.#owned[role] += text.length;
    this.#input.at = end;
  }

  /** Text of a name or header. False when it grew too long to be one; what is left of it is read anew. */
  #collect(text: string): boolean {
    const taken = text.slice(0, NAME_LIMIT + 1 - this.#collected.length);
    this.#collected += taken;
    this.#owned.call += taken.length;
    this.#input.at += taken.length;
    if (this.#collected.length <= NAME_LIMIT) return true;
    if (this.#hold) this.#release();
    else this.#salvage();
    return false;
  }

  /** Collected text that is no name goes to the state where it is text. */
  #salvage(): void {
    const salvaged = this.#state.salvage?.(this.#collected);
    if (!salvaged) return;
    this.#enter(salvaged.to);
    const role = this.#state.text;
    if (role !== 'content' && role !== 'reasoning') return;
    this.#owned.call -= salvaged.text.length;
    this.#owned[role] += salvaged.text.length;
    this.#layout.text(role, salvaged.text, this.#input.tokensRead());
  }

  /** Follows a terminal that begins at `#at`. False when it means nothing here. */
  #apply(terminal: string, end: number): boolean {
    const transition = this.#transition(terminal, end);
    if (!transition) return false;
    const { to, hold, do: actions = [], writes } = transition;
    if (hold && !this.#hold && this.#input.position < this.#unheldUntil) return false;
    const length = end - this.#input.at;
    if (hold && this.#hold && to === this.#stateName && this.#isBlank()) {
      this.#owned.markup += length;
      this.#input.at += length;
      return true;
    }
    if (this.#state.text === 'call' && this.#reader && !this.#closeReader(this.#reader)) return true;
    if (hold && this.#hold && transition.closesHeld !== undefined) {
      if (!this.#act('call-start')) return true;
      this.#act('call-end');
      this.#restore(transition.closesHeld);
    }
    if (hold && this.#hold) {
      this.#release();
      return true;
    }
    if (hold) this.#openHold(transition, length);
    const opener = this.#input.at;
    this.#input.at += length;
    for (const action of actions) {
      if (!this.#act(action)) {
        // Released, or a name that is none: then the marker is all that was read.
        if (this.#input.at === opener + length) this.#owned.markup += length;
        return true;
      }
    }
    this.#enter(typeof to === 'string' ? to : to(this.#collected));
    if (writes !== undefined) this.#calls.parameters?.text(writes);
    if (actions.includes('literal-unless-call')) {
      this.#owned.content += length;
      this.#layout.pend('content', this.#input.text.slice(opener, this.#input.at), this.#input.tokensRead());
      this.#last = this.#input.text[this.#input.at - 1]!;
    } else if (!actions.includes('literal')) this.#owned.markup += length;
    else {
      this.#input.at = opener;
      if (this.#state.text !== 'call') this.#text(opener + length);
    }
    if (actions.includes('first')) this.#before = 'start';
    return true;
  }

  /** Nothing that counts stands between the opener that led here and what comes: the same opener again is a slip. */
  #isBlank(): boolean {
    const { text } = this.#state;
    if (text === 'name') return this.#collected.trim() === '';
    return text === 'call' ? this.#isFresh : text === 'layout' || text === 'discard';
  }

  #transition(terminal: string, end: number): Transition | null {
    const entry = this.#state.on[terminal];
    if (!entry) return null;
    const choices: readonly Transition[] = Array.isArray(entry) ? entry : [entry as Transition];
    return choices.find(({ when }) => this.#isMet(when, end)) ?? null;
  }

  #isMet(guard: Guard | undefined, end: number): boolean {
    if (guard === 'line-start') return this.#last === '\n' || this.#last === '';
    if (guard === 'start') return this.#last === '';
    if (guard === 'first') return this.#before !== 'text';
    if (guard === 'after-call') return this.#before === 'call';
    if (guard === 'blank') return this.#collected.trim() === '';
    if (guard === 'declared') return this.#isDeclared();
    if (guard === 'no-parameter') return this.#calls.parameters?.isEmpty ?? true;
    if (guard === 'nested-twice') return this.#nesting > 1;
    if (guard === 'unquoted') return !(this.#last === '`' && this.#input.text[end] === '`');
    return guard === 'nested' ? this.#nesting > 0 : true;
  }

  #enter(name: string): void {
    const state = this.#options.states[name]!;
    if (name !== this.#stateName) {
      this.#stateName = name;
      this.#state = state;
      this.#matcher = this.#matcherOf(name);
      for (const action of state.onEnter ?? []) this.#act(action);
      if (state.text === 'name') this.#collected = '';
      if (state.text === 'value') this.#last = ' ';
    } else if (state.text === 'name') this.#collected = '';
    if (state.text === 'call' && !this.#reader) {
      const context = {
        sink: this.#sink,
        name: this.#calls.name,
        schemaOf: (called: string) => this.#calls.schemaOf(called),
      };
      this.#reader = state.createReader?.(context) ?? null;
      this.#isFresh = true;
    }
    if (state.text === 'value') this.#calls.parameters?.openValue();
  }

  #matcherOf(name: string): Matcher {
    const known = this.#matchers.get(name);
    if (known) return known;
    const { states, format, byToken, pieces } = this.#options;
    const literals: Literal[] = [];
    const add = (terminal: string, isInert: boolean) => {
      for (const literal of spellings(format.terminals[terminal]!)) {
        if (!byToken.has(literal)) literals.push({ literal, terminal, pieces: pieces.get(literal), isInert });
      }
    };
    const { on } = states[name]!;
    for (const terminal of Object.keys(on)) add(terminal, false);
    for (const [terminal, { token }] of Object.entries(format.terminals)) {
      if (token !== 'never' && !Object.hasOwn(on, terminal)) add(terminal, true);
    }
    const matcher = new Matcher(literals, (at, length) => this.#input.isControl(at, length));
    this.#matchers.set(name, matcher);
    return matcher;
  }

  /** False when the action could not be done: what was held is released, and the rest of them is void. */
  #act(action: Action): boolean {
    switch (action) {
      case 'reasoning-start':
        this.#layout.reasoningStart();
        this.#last = '';
        this.#before = 'start';
        return true;
      case 'content-start':
        this.#layout.contentStart();
        this.#last = '';
        this.#before = 'start';
        return true;
      case 'reasoning-end':
        this.#layout.reasoningEnd();
        this.#last = '';
        this.#before = 'start';
        return true;
      case 'edge':
        this.#layout.edge();
        return true;
      case 'call-edge':
        this.#layout.call();
        return true;
      case 'call-start': {
        const name = this.#readName();
        if (name !== null && this.#startCall(name, this.#collected)) return true;
        if (this.#hold) this.#release();
        return false;
      }
      case 'call-end':
        if (this.#calls.isOpen) {
          this.#calls.parameters?.close();
          this.#endCall('call-end');
        }
        return true;
      case 'key':
        return this.#startParameter();
      case 'value-end':
        this.#calls.parameters?.endValue();
        return true;
      case 'release':
        if (!this.#hold) return true;
        this.#release();
        return false;
      case 'nest':
        this.#nesting++;
        return true;
      case 'nest-once':
        this.#nesting = 1;
        return true;
      case 'unnest':
        this.#nesting--;
        return true;
      case 'salvage':
        this.#salvage();
        return true;
      default:
        return true;
    }
  }

  /** The name that was collected; null if it is none. */
  #readName(): string | null {
    const { tools, channels } = this.#options.format;
    const read = tools?.readName ?? channels?.readName ?? ((header: string) => header.trim());
    return read(this.#collected, (declared) => this.#calls.isDeclared(declared));
  }

  #isDeclared(): boolean {
    const name = this.#readName();
    return name !== null && this.#calls.isDeclared(name);
  }

  #startCall(name: string, header: string): boolean {
    if (this.#hold?.needsDeclared && !this.#calls.isDeclared(name)) return false;
    if (!this.#calls.isPossible(name)) return false;
    this.#commit();
    this.#layout.call();
    this.#calls.start(name, header);
    return true;
  }

  #startParameter(): boolean {
    const { parameters } = this.#calls;
    if (!parameters) return true;
    const header = parameters.readHeader(this.#collected);
    if (this.#hold?.needsDeclared && !parameters.declares(header.key)) {
      this.#release();
      return false;
    }
    this.#commit();
    this.#nesting = 0;
    parameters.start(header);
    return true;
  }

  /** A marker ended a reader's text. False when the text it had was no call and is released. */
  #closeReader(reader: CallReader): boolean {
    this.#reader = null;
    if (reader.close()) return true;
    if (this.#hold) {
      this.#release();
      return false;
    }
    this.#endCall('call-incomplete');
    this.#giveBack(reader);
    return true;
  }

  /** What stands in the envelope can't be read. Before the call began it is text, later the call is broken. */
  #failCall(reader: CallReader): void {
    this.#reader = null;
    if (this.#hold) this.#release();
    else if (this.#calls.isOpen) this.#endCall('call-incomplete');
    else {
      this.#enter(this.#state.done ?? CONTENT);
      this.#giveBack(reader);
    }
  }

  /** Behind a call stood something that was none: it is text. */
  #giveBack({ unclaimed = '' }: CallReader): void {
    if (unclaimed === '') return;
    if (this.#state.otherwise !== undefined) this.#enter(this.#state.otherwise);
    this.#owned.call -= unclaimed.length;
    this.#owned.content += unclaimed.length;
    this.#layout.text('content', unclaimed, this.#input.tokensRead());
    this.#last = unclaimed[unclaimed.length - 1]!;
    this.#before = 'text';
  }

  #endCall(type: 'call-end' | 'call-incomplete'): void {
    this.#calls.end(type);
    this.#before = 'call';
  }

  /** From here on, at an opener of `length` characters, everything is kept. */
  #openHold(transition: Transition, length: number): void {
    const input = this.#input;
    input.cut();
    this.#hold = {
      start: input.base,
      openerEnd: input.base + length,
      state: this.#stateName,
      mark: input.mark,
      last: this.#last,
      nesting: this.#nesting,
      needsDeclared: transition.hold === 'declared',
      onCommit: transition.onCommit ?? [],
      chunks: [],
      owned: { ...this.#owned },
    };
  }

  #commit(): void {
    const hold = this.#hold;
    if (!hold) return;
    this.#hold = null;
    for (const action of hold.onCommit) this.#act(action);
  }

  /** What was held was cut before it meant anything: it is markup. */
  #dropHold(hold: Hold): void {
    this.#hold = null;
    this.#reader = null;
    this.#restore(hold.state);
  }

  /** Back in a state, without what entering it does. */
  #restore(name: string): void {
    this.#stateName = name;
    this.#state = this.#options.states[name]!;
    this.#matcher = this.#matcherOf(name);
  }

  /** What is held has become too long for a call. */
  #overrun({ start }: Hold): void {
    this.#overruns++;
    const most = HOLDS_AT_LIMIT * (1 + Math.floor(start / HOLD_LIMIT));
    if (this.#overruns > most) this.#unheldUntil = start + HOLD_LIMIT;
    this.#release();
  }

  /** What was held is text: goes back to the opener, which is text too, and reads on behind it. */
  #release(): void {
    const hold = this.#hold!;
    this.#hold = null;
    this.#reader = null;
    this.#input.restore(hold.chunks.join(''), hold.mark);
    this.#owned = hold.owned;
    this.#last = hold.last;
    this.#nesting = hold.nesting;
    this.#restore(hold.state);
    this.#readUnmapped(hold.openerEnd - hold.start);
  }
}
