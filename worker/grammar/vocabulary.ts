import { TokenFlag, type TokenTable } from '../../src/protocol.ts';
import {
  GROUP_END,
  GROUP_START,
  PLAIN,
  PLAIN_QUESTION,
  questionText,
  SIGNAL_LIMIT,
  signalText,
  TOKEN_END,
  TOKEN_START,
} from './signs.ts';
import { type TextSpelling, TokenOrder } from './token-order.ts';

/** Added tokens that count as markup: those of white space alone are text like any other. */
export function markerTokens(table: TokenTable): Map<string, number> {
  const decoder = new TextDecoder();
  const tokens = new Map<string, number>();
  for (let id = 0; id < table.flags.length; id++) {
    if ((table.flags[id]! & TokenFlag.added) === 0) continue;
    const bytes = bytesOf(table, id);
    const text = decoder.decode(bytes);
    if (!isBlank(bytes) && !tokens.has(text)) tokens.set(text, id);
  }
  return tokens;
}

const bytesOf = ({ bytes, offsets }: TokenTable, id: number) =>
  bytes.subarray(offsets[id]!, offsets[id + 1]!);

const isBlank = (bytes: Uint8Array) => bytes.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d));

/**
 * The vocabulary as xgrammar gets it. Behind the model's own tokens, from a word boundary of the mask on, stand
 * those of the signals.
 */
export class GrammarVocabulary {
  readonly table: TokenTable;
  /** Values of a row of logits. */
  readonly width: number;
  /** 32-bit words of a mask over the model's own tokens. */
  readonly words: number;
  /** Id of the token of signal 0; the others follow. */
  readonly firstSignal: number;
  /** Id of the question token of signal 0; the others follow. */
  readonly firstQuestion: number;
  /** Ids of the tokens that make a group of signals. */
  readonly group: {
    readonly start: number;
    readonly end: number;
    readonly plain: number;
    readonly plainQuestion: number;
  };
  /** All tokens, those of the signals included. */
  readonly size: number;
  /** Ids of added tokens by their text. */
  readonly markers: ReadonlyMap<string, number>;
  #byBytes: Map<string, number[]> | null = null;
  readonly #orders = new Map<string, TokenOrder>();

  constructor(table: TokenTable, width: number) {
    this.table = table;
    this.width = width;
    this.words = Math.ceil(width / 32);
    this.firstSignal = 32 * this.words;
    this.firstQuestion = this.firstSignal + SIGNAL_LIMIT;
    const first = this.firstQuestion + SIGNAL_LIMIT;
    this.group = { start: first, end: first + 1, plain: first + 2, plainQuestion: first + 3 };
    this.size = first + 4;
    this.markers = markerTokens(table);
  }

  /** Bytes of an ordinary token; empty for the others. */
  bytes(id: number): Uint8Array {
    return id < this.table.flags.length && this.#isText(id) ? bytesOf(this.table, id) : NOTHING;
  }

  /** The texts by which xgrammar knows the tokens, in order of their ids. Those that may never come are empty. */
  encoded(): Uint8Array[] {
    const encoder = new TextEncoder();
    const list: Uint8Array[] = [];
    for (let id = 0; id < this.size; id++) list.push(this.bytes(id));
    for (const [text, id] of this.markers) list[id] = encoder.encode(TOKEN_START + text + TOKEN_END);
    for (let number = 0; number < SIGNAL_LIMIT; number++) {
      list[this.firstSignal + number] = encoder.encode(signalText(number));
      list[this.firstQuestion + number] = encoder.encode(questionText(number));
    }
    const { start, end, plain, plainQuestion } = this.group;
    list[start] = encoder.encode(GROUP_START);
    list[end] = encoder.encode(GROUP_END);
    list[plain] = encoder.encode(PLAIN);
    list[plainQuestion] = encoder.encode(PLAIN_QUESTION);
    return list;
  }

  /** The ordinary token with exactly these bytes, given as Latin-1. */
  find(wanted: string): number | undefined {
    return this.#index.get(wanted)?.[0];
  }

  /** Ordinary tokens as texts of a kind are walked through with. */
  order(spelling: TextSpelling): TokenOrder {
    const key = JSON.stringify(spelling);
    let order = this.#orders.get(key);
    if (!order) {
      order = new TokenOrder(this.#index, spelling);
      this.#orders.set(key, order);
    }
    return order;
  }

  /** Ids of ordinary tokens by their bytes as Latin-1, in the order of the bytes. */
  get #index(): Map<string, number[]> {
    if (!this.#byBytes) {
      const ids = new Map<string, number[]>();
      for (let id = 0; id < Math.min(this.width, this.table.flags.length); id++) {
        const bytes = this.bytes(id);
        if (bytes.length === 0) continue;
        const text = latin1(bytes);
        const same = ids.get(text);
        if (same) same.push(id);
        else ids.set(text, [id]);
      }
      this.#byBytes = new Map([...ids.keys()].sort().map((text) => [text, ids.get(text)!]));
    }
    return this.#byBytes;
  }

  #isText(id: number): boolean {
    const bytes = bytesOf(this.table, id);
    if ((this.table.flags[id]! & TokenFlag.added) !== 0) return isBlank(bytes);
    return !bytes.some((byte) => byte >= 1 && byte <= 3);
  }
}

const NOTHING = new Uint8Array(0);

/** Bytes as a string of the same length, for sorting and as keys. */
export const latin1 = (bytes: Uint8Array) => String.fromCharCode(...bytes);
