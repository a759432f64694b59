import { isObject } from '../chat/fields.ts';
import { JsonCloser } from '../chat/json-closer.ts';
import type { ChatCompletionToolCallDelta, IncompleteToolCalls } from '../chat/types.ts';
import { malformed } from './answer.ts';
import { type CallPiece, callPiece, isBlank } from './call-piece.ts';
import { excerpt } from './failures.ts';

interface RemoteCall {
  index: number;
  /** By which the server knows it; `null` where it does not number its calls. */
  serverIndex: number | null;
  id: string | null;
  /** Empty until it has come, whole. */
  name: string;
  /** All of the arguments so far. */
  text: string;
  announced: boolean;
  /** The server says that it was cut. */
  isCut: boolean;
}

/** How the calls of a choice ended. */
export interface CallsEnd {
  /** Last deltas of the calls. */
  deltas: ChatCompletionToolCallDelta[];
  /** Calls that a client may run, and those that are delivered as if they were. */
  delivered: number;
  /** `index` of each one that was cut. */
  incomplete: number[];
}

/**
 * The calls of one choice as a server streams them, each given on with its name whole and once.
 *
 * Servers do not say whether a call has ended, and vLLM completes the JSON of one that was cut: what stood last when
 * the answer was cut counts as cut itself, whatever its text looks like.
 */
export class ChoiceCalls {
  readonly #mode: IncompleteToolCalls;
  /** In the order in which they began. */
  readonly #calls: RemoteCall[] = [];
  /** By the index that the server gives them. */
  readonly #byIndex = new Map<number, RemoteCall>();
  /** The one that nothing has come behind. */
  #open: RemoteCall | null = null;
  /** OpenAI's older form of a call, of which a message has one. */
  #older: RemoteCall | null = null;

  constructor(mode: IncompleteToolCalls) {
    this.#mode = mode;
  }

  get count(): number {
    return this.#calls.length;
  }

  /** Text of the answer has come: the calls before it had ended. */
  close(): void {
    this.#open = null;
  }

  /** `tool_calls` of a delta. Throws a `RemoteServerError` where they are none of OpenAI's shape. */
  read(given: readonly unknown[]): ChatCompletionToolCallDelta[] {
    const pieces = given.map(callPiece).filter((piece) => !isBlank(piece));
    const unknown = pieces.filter(({ index, id, name }) => index === null && id === null && name === '');
    if (unknown.length > 1)
      throw malformed(`pieces of several calls and not of which ones, ${excerpt(given)}`);
    return pieces.flatMap((piece) => this.#add(this.#callOf(piece), piece));
  }

  /** `function_call` of a delta. Throws a `RemoteServerError` where it is none of OpenAI's shape. */
  readOlder(given: unknown): ChatCompletionToolCallDelta[] {
    const piece = callPiece({ function: given });
    if (isBlank(piece)) return [];
    this.#older ??= this.#begin(null, null);
    return this.#add(this.#older, piece);
  }

  #add(call: RemoteCall, { id, name, text }: CallPiece): ChatCompletionToolCallDelta[] {
    this.#open = call;
    call.id ??= id;
    call.name ||= name;
    if (name !== '' && name !== call.name) {
      throw malformed(`two names for one call, ${JSON.stringify(call.name)} and ${JSON.stringify(name)}`);
    }
    call.text += text;
    if (!call.announced) return call.name === '' ? [] : this.#announce(call);
    return text === '' ? [] : [{ index: call.index, function: { arguments: text } }];
  }

  /**
   * What a server tells of calls that were cut, as engines of this package do: whole objects, or the `index` of those
   * that came before.
   */
  readCut(told: readonly unknown[]): ChatCompletionToolCallDelta[] {
    return told.flatMap((one) => {
      const known = typeof one === 'number' ? this.#byIndex.get(one) : undefined;
      if (known) {
        known.isCut = true;
        return [];
      }
      const piece = callPiece(one);
      if (piece.name === '') throw malformed(`a call that was cut and has no name, ${excerpt(one)}`);
      const call = this.#begin(null, piece.id);
      call.isCut = true;
      return this.#add(call, piece);
    });
  }

  /**
   * Throws a `RemoteServerError` for a call that has no name, unless it was cut before that was whole.
   *
   * @param isCut whether something else than the model ended the answer
   */
  end(isCut: boolean): CallsEnd {
    const end: CallsEnd = { deltas: [], delivered: 0, incomplete: [] };
    for (const call of this.#calls) {
      if (!call.announced) {
        if (isCut && call === this.#open) continue;
        throw malformed(`a call without a name, its arguments ${JSON.stringify(excerpt(call.text) ?? '')}`);
      }
      const stopsHere = call.isCut || (isCut && call === this.#open);
      // A function without parameters: some servers send nothing for its arguments.
      if (call.text.trim() === '' && !stopsHere) this.#complete(call, '{}', end);
      const isWhole = !stopsHere && isJsonObject(call.text);
      if (!isWhole && this.#mode === 'close') this.#complete(call, closersOf(call.text), end);
      const isDelivered =
        isWhole || this.#mode === 'raw' || (this.#mode === 'close' && isJsonObject(call.text));
      if (isDelivered) end.delivered++;
      else end.incomplete.push(call.index);
    }
    return end;
  }

  #complete(call: RemoteCall, text: string, end: CallsEnd): void {
    if (text === '') return;
    call.text += text;
    end.deltas.push({ index: call.index, function: { arguments: text } });
  }

  /** The call that a piece belongs to. */
  #callOf(piece: CallPiece): RemoteCall {
    const { index, id } = piece;
    const same = id === null ? undefined : this.#calls.findLast((call) => call.id === id);
    if (same && (index === null || same.serverIndex === null || same.serverIndex === index)) return same;
    const known = index === null ? this.#calls.at(-1) : this.#byIndex.get(index);
    return known && !isNext(known, piece) ? known : this.#begin(index, id);
  }

  #begin(serverIndex: number | null, id: string | null): RemoteCall {
    const call = { index: -1, serverIndex, id, name: '', text: '', announced: false, isCut: false };
    this.#calls.push(call);
    if (serverIndex !== null) this.#byIndex.set(serverIndex, call);
    return call;
  }

  #announce(call: RemoteCall): ChatCompletionToolCallDelta[] {
    call.announced = true;
    call.index = this.#calls.filter(({ announced }) => announced).length - 1;
    call.id ??= callId();
    const { index, id, name, text } = call;
    const begun = { index, id, type: 'function' as const, function: { name, arguments: '' } };
    return text === '' ? [begun] : [begun, { index, function: { arguments: text } }];
  }
}

/**
 * Whether a piece begins another call than the one that its place says: some servers number all calls alike, or not at
 * all. A name begins one, but for servers that repeat it with each piece of the arguments; those of a whole call can't
 * go on.
 */
function isNext(known: RemoteCall, { index, id, name, text }: CallPiece): boolean {
  const isOtherId = id !== null && known.id !== null && id !== known.id;
  // Without a number to go by, the id alone tells. Beside one, some servers make up an id for each piece.
  if (isOtherId) return name !== '' || index === null;
  if (name === '' || known.name === '') return false;
  if (isJsonObject(known.text)) return name !== known.name || text.trim() !== '';
  return index === null && name !== known.name;
}

function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

function closersOf(text: string): string {
  const closer = new JsonCloser();
  closer.push(text);
  return closer.closers();
}

/** `chatcmpl-tool-` and 32 hex digits. */
function callId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `chatcmpl-tool-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
