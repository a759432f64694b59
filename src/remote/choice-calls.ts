import { isObject } from '../chat/fields.ts';
import { JsonCloser } from '../chat/json-closer.ts';
import type { ChatCompletionToolCallDelta, IncompleteToolCalls } from '../chat/types.ts';
import { RemoteServerError } from '../errors.ts';

interface RemoteCall {
  index: number;
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

  constructor(mode: IncompleteToolCalls) {
    this.#mode = mode;
  }

  /** Text of the answer has come: the calls before it had ended. */
  close(): void {
    this.#open = null;
  }

  /** Throws a `RemoteServerError` where the delta is none of OpenAI's shape. */
  read(delta: unknown): ChatCompletionToolCallDelta[] {
    const { index, id, name, text } = partsOf(delta);
    const call = this.#callOf(index, id, name);
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
      const { id, name, text } = partsOf(one);
      if (name === '') throw malformed('a call that was cut and has no name');
      const call = { index: -1, id, name, text, announced: false, isCut: true };
      this.#calls.push(call);
      return this.#announce(call);
    });
  }

  /**
   * @param isCut whether something else than the model ended the answer
   */
  end(isCut: boolean): CallsEnd {
    const end: CallsEnd = { deltas: [], delivered: 0, incomplete: [] };
    for (const call of this.#calls) {
      if (!call.announced) continue;
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

  /** The call that a delta belongs to: by its index, unless another id says that a new one begins there. */
  #callOf(index: number | null, id: string | null, name: string): RemoteCall {
    const known = index === null ? (name === '' ? this.#calls.at(-1) : undefined) : this.#byIndex.get(index);
    const isOther = known && id !== null && known.id !== null && id !== known.id && name !== '';
    if (known && !isOther) return known;
    const call = { index: -1, id, name: '', text: '', announced: false, isCut: false };
    this.#calls.push(call);
    if (index !== null) this.#byIndex.set(index, call);
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

function partsOf(delta: unknown): { index: number | null; id: string | null; name: string; text: string } {
  if (!isObject(delta)) throw malformed('a tool call that is no object');
  const { index = null, id, type, function: called = {} } = delta;
  if (index !== null && !Number.isInteger(index)) throw malformed('a tool call whose index is no integer');
  if (type !== undefined && type !== null && type !== 'function') {
    throw malformed(`a tool call of type ${JSON.stringify(type)}`);
  }
  if (!isObject(called)) throw malformed('a tool call whose function is no object');
  const { name, arguments: text } = called;
  for (const value of [id, name, text]) {
    if (value !== undefined && value !== null && typeof value !== 'string') {
      throw malformed('a tool call whose id, name or arguments are no text');
    }
  }
  return {
    index: index as number | null,
    id: (id as string | null | undefined) || null,
    name: ((name as string | null | undefined) ?? '').trim(),
    text: (text as string | null | undefined) ?? '',
  };
}

export function malformed(what: string): RemoteServerError {
  return new RemoteServerError(`The server sent ${what}: its answer can't be read.`, {
    code: 'invalid_chunk',
  });
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
