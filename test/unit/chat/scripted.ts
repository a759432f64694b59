/** A parser and a worker that do what a test says, for tests of what lies between them. */
import { Completions } from '../../../src/chat/completions.ts';
import { prepareRequest } from '../../../src/chat/request.ts';
import type { CompletionsHost, GenerationListener } from '../../../src/chat/start.ts';
import type { TokenprismError } from '../../../src/errors.ts';
import type { EndOfStream, ParserEvent } from '../../../src/parser/events.ts';
import type { Parser, ParserDelta } from '../../../src/parser/parser.ts';
import type { DeviceReport, EndReason, FromWorker, GenerateJob, Timings } from '../../../src/protocol.ts';
import { context } from './context.ts';

/** Token `n` brings `script[n]`; the end of the stream brings `last`. */
export class ScriptedParser implements Parser {
  readonly fed: number[] = [];
  ended: EndOfStream | null = null;
  reasoningTokens = 0;
  readonly inReasoning = false;
  readonly owners = { reasoning: 0, content: 0, call: 0, markup: 0 };
  readonly #script: readonly ParserEvent[][];
  readonly #last: readonly ParserEvent[];

  constructor(script: readonly ParserEvent[][], last: readonly ParserEvent[] = []) {
    this.#script = script;
    this.#last = last;
  }

  feed(delta: ParserDelta): ParserEvent[] {
    if (!('ids' in delta)) throw new Error('text was fed');
    if (this.ended) throw new Error('fed after the end');
    const ids = Array.from(delta.ids);
    this.fed.push(...ids);
    const events = ids.flatMap((id) => this.#script[id] ?? []);
    this.reasoningTokens += ids.filter((id) =>
      this.#script[id]?.some(({ type }) => type === 'reasoning'),
    ).length;
    return events;
  }

  finish(end: EndOfStream): ParserEvent[] {
    this.ended = end;
    return [...this.#last];
  }
}

export const device: DeviceReport = {
  device: 'scripted',
  reason: 'test',
  adapter: null,
  dtype: 'none',
  decode: 'scripted',
  sampling: 'cpu',
  limits: [],
};

export const timings: Timings = {
  queued: 1,
  rendering: 2,
  prefill: 3,
  decode: 4,
  timeToFirstToken: 6,
  forcedTokens: 0,
  forwards: 0,
  draftedTokens: 0,
  acceptedTokens: 0,
  tokensPerSecond: 7,
};

/** One request as the fake worker saw it. */
export interface SentRequest {
  job: GenerateJob;
  listener: GenerationListener;
  cuts: { choice: number; at: number }[];
  aborted: boolean;
}

type WithoutRequest<Message> = Message extends { request: unknown } ? Omit<Message, 'request'> : never;
export type RequestMessage = WithoutRequest<
  Extract<FromWorker, { type: 'state' | 'started' | 'tokens' | 'done' }>
>;

export class ScriptedHost implements CompletionsHost {
  readonly context = context;
  readonly prepareRequest = prepareRequest;
  readonly device = device;
  readonly eosTokenIds = [2041];
  /** Token `n` is the letter of that number, `a` for 0. */
  readonly vocabulary = {
    text: (id: number) => String.fromCharCode(97 + id),
    bytes: (id: number) => Uint8Array.of(97 + id),
  };
  incompleteToolCalls: CompletionsHost['incompleteToolCalls'] = 'separate';
  readonly requests: SentRequest[] = [];
  readonly parsers: ScriptedParser[] = [];
  readonly completions = new Completions(this);
  readonly #makeParser: () => ScriptedParser;
  notReady: TokenprismError | null = null;

  constructor(makeParser: () => ScriptedParser) {
    this.#makeParser = makeParser;
  }

  createParser(): Parser {
    const parser = this.#makeParser();
    this.parsers.push(parser);
    return parser;
  }

  ready(): Promise<void> | null {
    return this.notReady && Promise.reject(this.notReady);
  }

  generate(job: GenerateJob, listener: GenerationListener) {
    const request: SentRequest = { job, listener, cuts: [], aborted: false };
    this.requests.push(request);
    return {
      cut: (choice: number, at: number) => request.cuts.push({ choice, at }),
      abort: () => {
        request.aborted = true;
      },
    };
  }

  /** The latest request, once it has been sent. */
  async sent(): Promise<SentRequest> {
    for (let turn = 0; turn < 20; turn++) {
      const request = this.requests.at(-1);
      if (request) return request;
      await Promise.resolve();
    }
    throw new Error('no request was sent');
  }
}

export function send(request: SentRequest, ...messages: RequestMessage[]): void {
  for (const message of messages) {
    const numbered = { ...message, request: 0 } as Parameters<GenerationListener['message']>[0];
    request.listener.message(numbered);
  }
}

export const started: RequestMessage = {
  type: 'started',
  promptTokenIds: Uint32Array.of(1, 2, 3),
  prompt: 'Hi',
  seed: 5,
};

export function tokens(from: number, ids: number[], choice = 0, allowed?: number[]): RequestMessage {
  return { type: 'tokens', choice, from, ids, ...(allowed && { allowed }) };
}

export function done(reason: EndReason, completionTokens: number, choices = 1): RequestMessage {
  return {
    type: 'done',
    choices: Array.from({ length: choices }, (_, choice) => ({ choice, reason, completionTokens })),
    usage: { promptTokens: 3, cachedTokens: 1, completionTokens: completionTokens * choices },
    timings,
  };
}
