import { TokenFlag, type TokenTable } from '../../src/protocol.ts';
import { questionText, SIGNAL_LIMIT, signalText, TOKEN_END, TOKEN_START } from './signs.ts';

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
  /** All tokens, those of the signals included. */
  readonly size: number;
  /** Ids of added tokens by their text. */
  readonly markers: ReadonlyMap<string, number>;
  #sorted: SortedTokens | null = null;
  #byBytes: Map<string, number> | null = null;

  constructor(table: TokenTable, width: number) {
    this.table = table;
    this.width = width;
    this.words = Math.ceil(width / 32);
    this.firstSignal = 32 * this.words;
    this.firstQuestion = this.firstSignal + SIGNAL_LIMIT;
    this.size = this.firstQuestion + SIGNAL_LIMIT;
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
    return list;
  }

  /** Ordinary tokens in order of their bytes. */
  get sorted(): SortedTokens {
    this.#sorted ??= sortTokens(this);
    return this.#sorted;
  }

  /** The ordinary token with exactly these bytes, given as Latin-1. */
  find(wanted: string): number | undefined {
    if (!this.#byBytes) {
      this.#byBytes = new Map();
      for (let id = this.table.flags.length - 1; id >= 0; id--) {
        const bytes = this.bytes(id);
        if (bytes.length > 0) this.#byBytes.set(latin1(bytes), id);
      }
    }
    return this.#byBytes.get(wanted);
  }

  #isText(id: number): boolean {
    const bytes = bytesOf(this.table, id);
    if ((this.table.flags[id]! & TokenFlag.added) !== 0) return isBlank(bytes);
    return !bytes.some((byte) => byte >= 1 && byte <= 3);
  }
}

const NOTHING = new Uint8Array(0);

/** Tokens in order of their bytes, so that what they share is looked at once. */
export interface SortedTokens {
  ids: Int32Array;
  /** Bytes of the tokens, one after the other. */
  bytes: Uint8Array;
  /** Length is the number of tokens + 1. */
  offsets: Int32Array;
  /** Bytes that a token shares with the one before it. */
  shared: Int32Array;
  /** Bytes of the longest token. */
  longest: number;
}

function sortTokens(vocabulary: GrammarVocabulary): SortedTokens {
  const entries: { id: number; key: string; bytes: Uint8Array }[] = [];
  for (let id = 0; id < Math.min(vocabulary.width, vocabulary.table.flags.length); id++) {
    const bytes = vocabulary.bytes(id);
    if (bytes.length > 0) entries.push({ id, key: latin1(bytes), bytes });
  }
  entries.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.id - b.id));
  const total = entries.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const sorted: SortedTokens = {
    ids: new Int32Array(entries.length),
    bytes: new Uint8Array(total),
    offsets: new Int32Array(entries.length + 1),
    shared: new Int32Array(entries.length),
    longest: 0,
  };
  let offset = 0;
  let previous = NOTHING as Uint8Array;
  for (const [index, { id, bytes }] of entries.entries()) {
    sorted.ids[index] = id;
    sorted.bytes.set(bytes, offset);
    offset += bytes.length;
    sorted.offsets[index + 1] = offset;
    let shared = 0;
    while (shared < previous.length && shared < bytes.length && previous[shared] === bytes[shared]) shared++;
    sorted.shared[index] = shared;
    sorted.longest = Math.max(sorted.longest, bytes.length);
    previous = bytes;
  }
  return sorted;
}

/** Bytes as a string of the same length, for sorting and as keys. */
export const latin1 = (bytes: Uint8Array) => String.fromCharCode(...bytes);
