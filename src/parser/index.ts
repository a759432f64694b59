/** The parser engine: `createParser` makes the parser of one choice. */
import { isThinking } from './compose.ts';
import type { EndOfStream, ParserEvent } from './events.ts';
import { type ChannelFormat, CONTENT, type MessageFormat, REASONING, spellings } from './format.ts';
import { Machine } from './machine.ts';
import type { Owners } from './owners.ts';
import type { Parser, ParserDelta } from './parser.ts';
import { SchemaView } from './schema.ts';
import { lastPromptMarker, type TokenReader, TokenScanner } from './token-scanner.ts';

export { compose, composeChannels, isThinking } from './compose.ts';
export type { EndOfStream, ParserEvent } from './events.ts';
export type { MessageFormat, ReasoningFormat, ToolFormat } from './format.ts';
export { type HeldAnswer, heldFormat } from './held.ts';
export type { Parser, ParserDelta } from './parser.ts';
export type { TokenReader } from './token-scanner.ts';

/** A function that the request offers. */
export interface ToolDeclaration {
  name: string;
  /** JSON schema of its arguments. */
  parameters?: unknown;
}

export interface ParserOptions {
  format: MessageFormat;
  tools?: readonly ToolDeclaration[];
  /** The model's vocabulary, for streams of ids; without it only text can be fed. */
  vocabulary?: TokenReader | null;
  /** Variables of the chat template, for the format's switches (`enable_thinking`, `thinking`). */
  templateArguments?: Readonly<Record<string, unknown>>;
  /** What the model was given: its ids, or as text what follows the last turn boundary. */
  prompt?: { ids: ArrayLike<number> } | { text: string } | null;
  /** The prompt ends inside a text of this kind, which the output goes on with. */
  continues?: 'reasoning' | 'content' | null;
  /** Calls in the messages before, for families that count on. */
  callsInHistory?: number;
  /** Tokens that end the stream: like control tokens, no text unless the format declares them. */
  stopTokenIds?: readonly number[];
  /** Control tokens that mean nothing to the format are text, but for those that end the stream. Default `false`. */
  showsControlTokens?: boolean;
}

/** A parser for one choice of one request. */
export function createParser(options: ParserOptions): Parser {
  return new MessageParser(options);
}

class MessageParser implements Parser {
  readonly #machine: Machine;
  readonly #scanner: TokenScanner | null;
  /** Reasoning that a blank answer would repeat; null when nothing is to be repeated. */
  #unanswered: string | null = null;
  /** Tokens read up to the last event. */
  #tokens = 0;
  #isFinished = false;

  constructor(options: ParserOptions) {
    const { format, vocabulary = null, tools = [], templateArguments = {}, prompt = null } = options;
    const { stopTokenIds, showsControlTokens, continues = null } = options;
    this.#scanner = vocabulary
      ? new TokenScanner(format.terminals, vocabulary, stopTokenIds, showsControlTokens)
      : null;
    const { channels } = format;
    const start = channels
      ? { state: channels.start, isThinking: true }
      : startOf(
          format,
          templateArguments,
          (prompt && lastPromptMarker(format, prompt, vocabulary)) ?? continuedMarker(continues),
        );
    this.#machine = new Machine({
      format,
      states: format.states[start.isThinking ? 'thinking' : 'plain'],
      start: start.state,
      tools: new Map(tools.map(({ name, parameters }) => [name, new SchemaView(parameters)])),
      byToken: this.#scanner?.spellings ?? new Set(),
      pieces: this.#scanner?.pieces ?? new Map(),
      callsInHistory: options.callsInHistory ?? 0,
    });
    if (channels && prompt) this.#readTurn(channels, prompt, vocabulary);
    const { keptAfter, repeatedWith } = format.reasoning ?? {};
    if (keptAfter !== undefined && start.state === REASONING && !continues) this.#machine.preface(keptAfter);
    if (repeatedWith !== undefined && templateArguments[repeatedWith] === true) this.#unanswered = '';
    if (continues) this.#machine.resume(prompt ? endOf(prompt, vocabulary) : '');
  }

  /** Reads what the prompt has of the message already. */
  #readTurn(
    channels: ChannelFormat,
    prompt: NonNullable<ParserOptions['prompt']>,
    vocabulary: TokenReader | null,
  ): void {
    const opener = spellings(channels.terminals[channels.turnStart]!)[0]!;
    if ('text' in prompt)
      this.#machine.appendText(prompt.text.slice(prompt.text.lastIndexOf(opener) + opener.length));
    else if (vocabulary) {
      const tail = Array.from(prompt.ids);
      const ids = tail.slice(tail.lastIndexOf(vocabulary.idOf(opener) ?? -1) + 1);
      new TokenScanner(channels.terminals, vocabulary).scan(ids, this.#machine, false);
    }
    this.#machine.readPrompt();
  }

  get reasoningTokens(): number {
    return this.#machine.reasoningTokens;
  }

  get inReasoning(): boolean {
    return this.#machine.inReasoning;
  }

  get owners(): Owners {
    return this.#machine.owners;
  }

  feed(delta: ParserDelta): ParserEvent[] {
    if (this.#isFinished) throw new Error('The parser has finished; make a new one for another stream.');
    if ('text' in delta) this.#machine.appendText(delta.text);
    else if (this.#scanner) this.#scanner.scan(delta.ids, this.#machine);
    else throw new Error('Token ids need a vocabulary: pass it to createParser, or feed text.');
    return this.#noted(this.#machine.run());
  }

  finish(end: EndOfStream): ParserEvent[] {
    if (this.#isFinished) return [];
    this.#isFinished = true;
    this.#scanner?.flush(this.#machine);
    const events = this.#noted(this.#machine.finish(end));
    if (this.#unanswered && (end === 'stop' || end === 'length')) {
      events.push({ type: 'content', text: this.#unanswered, tokens: this.#tokens });
    }
    return events;
  }

  #noted(events: ParserEvent[]): ParserEvent[] {
    if (this.#unanswered === null) return events;
    for (const event of events) {
      this.#tokens = event.tokens;
      if (event.type === 'reasoning' && this.#unanswered !== null) this.#unanswered += event.text;
      else this.#unanswered = null;
    }
    return events;
  }
}

/** The marker that the text which the output goes on with stands behind. */
function continuedMarker(continues: 'reasoning' | 'content' | null): 'start' | 'end' | null {
  if (continues === null) return null;
  return continues === 'reasoning' ? 'start' : 'end';
}

/** The last text of a prompt. */
function endOf(
  prompt: { ids: ArrayLike<number> } | { text: string },
  vocabulary: TokenReader | null,
): string {
  if ('text' in prompt) return prompt.text;
  return vocabulary?.text(prompt.ids[prompt.ids.length - 1] ?? -1) ?? '';
}

/** Where the stream begins: the last marker in the prompt's tail decides, without one the format's default. */
function startOf(
  format: MessageFormat,
  templateArguments: Readonly<Record<string, unknown>>,
  marker: 'start' | 'end' | null,
): { state: string; isThinking: boolean } {
  const { reasoning } = format;
  if (!reasoning) return { state: CONTENT, isThinking: false };
  if (marker === 'start') return { state: REASONING, isThinking: true };
  const thinks = isThinking(reasoning, templateArguments);
  const begins = thinks && marker === null && reasoning.implicitStart;
  return { state: begins ? REASONING : CONTENT, isThinking: thinks || !reasoning.literalWhenOff };
}
