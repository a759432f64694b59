/** Calls written as JSON: `{"name": …, "arguments": {…}}`, or the arguments alone after a header with the name. */
import type { CallReader, CallReaderContext } from './call-reader.ts';
import { JsonReader } from './json-reader.ts';
import { SchemaView } from './schema.ts';

/** Keys of the envelope. */
export interface JsonEnvelope {
  nameKeys: readonly string[];
  argumentKeys: readonly string[];
  /** An object without arguments is no call. Default: it is a call with none. */
  needsArguments?: boolean;
  /** The object's key is the name, and its value the arguments; of several keys each is a call. */
  isKeyed?: boolean;
}

const NO_SCHEMA = new SchemaView(undefined);

/** Reads the arguments' object of a call whose header gave the name. */
export class JsonArgumentsReader implements CallReader {
  readonly #context: CallReaderContext;
  readonly #reader: JsonReader;

  constructor(context: CallReaderContext) {
    const view = context.schemaOf(context.name ?? '');
    this.#context = context;
    this.#reader = new JsonReader((json) => context.sink.arguments(json), view.root, view, true);
  }

  get inString(): boolean {
    return this.#reader.inString;
  }

  get isDone(): boolean {
    return this.#reader.isDone;
  }

  get isWhole(): boolean {
    return this.#reader.isDone;
  }

  read(text: string, from: number, to: number): number {
    const at = this.#reader.read(text, from, to);
    if (this.#reader.isDone) this.#end();
    return at;
  }

  close(): boolean {
    if (this.#reader.isDone) return true;
    if (this.#reader.isEmpty) this.#context.sink.arguments('{}');
    else if (!this.#reader.close()) return false;
    this.#end();
    return true;
  }

  #end(): void {
    this.#context.sink.arguments(this.#reader.takeCloser());
    this.#context.sink.end();
  }
}

/**
 * Reads one envelope object. The call begins when the name is known and the arguments begin (or the object ends
 * without any), so that whatever is no call can still become text.
 *
 * ```
 * {"name": "get_weather", "arguments": {"city": "Oslo"}}
 *                                      ^ start          ^ end
 * ```
 */
export class JsonEnvelopeReader implements CallReader {
  readonly #context: CallReaderContext;
  readonly #envelope: JsonEnvelope;
  #expects: 'open' | 'key' | 'colon' | 'value' | 'next' | 'closed' | 'nothing' = 'open';
  #reader: JsonReader | null = null;
  #reads: 'key' | 'name' | 'arguments' | 'early' | 'other' = 'key';
  #key = '';
  #json = '';
  #name: string | null = null;
  /** Arguments that came before the name, as written. */
  #early = '';
  #isStarted = false;
  #areArgumentsDone = false;
  #closer = '';

  /** `isOpen`: the object's brace was read already. */
  constructor(context: CallReaderContext, envelope: JsonEnvelope, isOpen = false) {
    this.#context = context;
    this.#envelope = envelope;
    if (isOpen) this.#expects = 'key';
  }

  get inString(): boolean {
    return this.#reader?.inString ?? false;
  }

  get isDone(): boolean {
    return this.#expects === 'closed';
  }

  get isWhole(): boolean {
    return this.#areArgumentsDone;
  }

  get hasBegun(): boolean {
    return this.#isStarted;
  }

  read(text: string, from: number, to: number): number {
    let at = from;
    while (at < to && this.#expects !== 'closed' && this.#expects !== 'nothing') {
      if (this.#reader) {
        const next = this.#reader.read(text, at, to);
        if (this.#reads === 'early') this.#early += text.slice(at, next);
        if (!this.#reader.isDone) return next;
        at = next;
        this.#endReader(this.#reader);
      } else if (/\s/.test(text[at]!)) at++;
      else {
        const isTaken = this.#readStructure(text[at]!);
        if (isTaken === 'stuck') return at;
        if (isTaken === 'taken') at++;
      }
    }
    return at;
  }

  close(): boolean {
    if (this.#expects === 'closed') return true;
    const reader = this.#reader;
    if (reader) {
      const isValue = this.#reads === 'arguments' || this.#reads === 'early' || this.#reads === 'other';
      if (!isValue || !reader.close()) return false;
      if (this.#reads === 'early') this.#early += reader.takeCloser();
      this.#endReader(reader);
    } else if (this.#expects !== 'next' && this.#expects !== 'key') return false;
    return this.#endEnvelope();
  }

  begin(): boolean {
    if (this.#name === null || this.#isStarted || this.#expects === 'nothing') return false;
    return this.#startArguments();
  }

  #readStructure(character: string): 'taken' | 'left' | 'stuck' {
    switch (this.#expects) {
      case 'open':
        if (character !== '{') return 'stuck';
        this.#expects = 'key';
        return 'taken';
      case 'key':
        if (character === '}') return this.#endEnvelope() ? 'taken' : 'stuck';
        if (character !== '"' && character !== "'") return 'stuck';
        this.#startReader('key');
        return 'left';
      case 'colon':
        if (character !== ':') return 'stuck';
        this.#expects = 'value';
        return 'taken';
      case 'value':
        return this.#startValue(character);
      default:
        if (character === '}') return this.#endEnvelope() ? 'taken' : 'stuck';
        // The next key is that of another call.
        if (character !== ',' || this.#envelope.isKeyed) return 'stuck';
        this.#expects = 'key';
        return 'taken';
    }
  }

  #startReader(reads: 'key' | 'name' | 'early' | 'other'): void {
    this.#reads = reads;
    this.#json = '';
    this.#reader = new JsonReader((json) => (this.#json += json), undefined, NO_SCHEMA);
  }

  #startValue(character: string): 'left' | 'stuck' {
    const { nameKeys, argumentKeys, isKeyed } = this.#envelope;
    if (isKeyed) {
      if (this.#name !== null || character !== '{') return 'stuck';
      this.#name = this.#key.trim();
      if (this.#name === '' || !this.#startArguments()) return 'stuck';
    } else if (this.#name === null && nameKeys.includes(this.#key)) {
      if (character !== '"' && character !== "'") return 'stuck';
      this.#startReader('name');
    } else if (argumentKeys.includes(this.#key) && !this.#isStarted && this.#early === '') {
      if (this.#name === null) this.#startReader('early');
      else if (!this.#startArguments()) return 'stuck';
    } else this.#startReader('other');
    return 'left';
  }

  #startArguments(): boolean {
    if (!this.#context.sink.start(this.#name!)) return false;
    this.#isStarted = true;
    const view = this.#context.schemaOf(this.#name!);
    this.#reads = 'arguments';
    this.#reader = new JsonReader((json) => this.#context.sink.arguments(json), view.root, view, true);
    return true;
  }

  #endReader(reader: JsonReader): void {
    this.#reader = null;
    this.#expects = 'next';
    if (this.#reads === 'key') {
      this.#key = JSON.parse(this.#json) as string;
      this.#expects = 'colon';
    } else if (this.#reads === 'name') {
      this.#name = (JSON.parse(this.#json) as string).trim();
      if (this.#name === '') this.#expects = 'nothing';
      else if (this.#early !== '') this.#startEarly();
    } else if (this.#reads === 'arguments') {
      this.#closer = reader.takeCloser();
      this.#areArgumentsDone = true;
    }
  }

  #startEarly(): void {
    if (!this.#startArguments()) {
      this.#expects = 'nothing';
      return;
    }
    const reader = this.#reader!;
    reader.read(this.#early, 0, this.#early.length);
    reader.endScalar();
    this.#endReader(reader);
  }

  #endEnvelope(): boolean {
    if (this.#name === null) return false;
    if (!this.#isStarted) {
      if (this.#envelope.needsArguments) return false;
      if (!this.#context.sink.start(this.#name)) return false;
      this.#context.sink.arguments('{}');
    } else this.#context.sink.arguments(this.#closer);
    this.#expects = 'closed';
    this.#context.sink.end();
    return true;
  }
}

/** Reads a list of envelopes: `[{"name": …}, {"name": …}]`. Where keys are names, one may have several: `{"f": …, "g": …}`. */
export class JsonEnvelopeListReader implements CallReader {
  readonly #context: CallReaderContext;
  readonly #envelope: JsonEnvelope;
  readonly #isList: boolean;
  #expects: 'open' | 'item' | 'pair' | 'next' | 'closed';
  #item: JsonEnvelopeReader | null = null;
  #unclaimed = '';
  #count = 0;

  /** `open list`: its bracket was read already; `object`: one of a list that stands alone. */
  constructor(
    context: CallReaderContext,
    envelope: JsonEnvelope,
    extent: 'list' | 'open list' | 'object' = 'list',
  ) {
    this.#context = context;
    this.#envelope = envelope;
    this.#isList = extent !== 'object';
    this.#expects = extent === 'list' ? 'open' : 'item';
  }

  get inString(): boolean {
    return this.#item?.inString ?? false;
  }

  get isDone(): boolean {
    return this.#expects === 'closed';
  }

  get isWhole(): boolean {
    return this.#item?.isWhole ?? false;
  }

  get unclaimed(): string {
    return this.#unclaimed;
  }

  read(text: string, from: number, to: number): number {
    let at = from;
    while (at < to && this.#expects !== 'closed') {
      if (this.#item) {
        const before = at;
        at = this.#item.read(text, at, to);
        this.#unclaimed = this.#item.hasBegun ? '' : this.#unclaimed + text.slice(before, at);
        const isClosed = this.#item.isDone;
        if (!isClosed && !(at < to && this.#endsItem(text[at]!))) return at;
        this.#item = null;
        this.#unclaimed = '';
        this.#count++;
        if (isClosed) this.#expects = this.#isList ? 'next' : 'closed';
        else if (text[at] === ',') {
          this.#expects = 'pair';
          at++;
          // Where the next item stands already, its comma was read as one inside the item.
        } else this.#expects = text[at] === '{' ? 'item' : 'next';
      } else if (/\s/.test(text[at]!)) at++;
      else if (text[at] === '{' && (this.#isList ? this.#expects !== 'open' : this.#expects === 'item')) {
        this.#item = new JsonEnvelopeReader(this.#context, this.#envelope);
      } else if (this.#expects === 'pair' && (text[at] === '"' || text[at] === "'")) {
        this.#item = new JsonEnvelopeReader(this.#context, this.#envelope, true);
      } else if (!this.#readStructure(text[at]!)) return at;
      else at++;
    }
    return at;
  }

  close(): boolean {
    if (this.#item) return this.#item.close();
    return this.#count > 0;
  }

  begin(): boolean {
    return this.#item?.begin() ?? false;
  }

  /** The list's closer, or the next item, where the item's own closers are missing, or its next call. */
  #endsItem(character: string): boolean {
    const isNext = character === ',' && this.#envelope.isKeyed && this.#item?.isWhole;
    const ends = character === ']' || character === '{' || isNext === true;
    return ends && (this.#item?.close() ?? false);
  }

  #readStructure(character: string): boolean {
    if (this.#expects === 'open' && character === '[') this.#expects = 'item';
    else if (this.#expects === 'next' && character === ',') this.#expects = 'item';
    else if (this.#expects === 'pair' && character === '}') this.#expects = this.#isList ? 'next' : 'closed';
    else if (character === ']' && this.#count > 0) this.#expects = 'closed';
    else return false;
    return true;
  }
}

/** Reads one envelope or a list of them, as it comes. */
export class JsonEnvelopesReader implements CallReader {
  readonly #context: CallReaderContext;
  readonly #envelope: JsonEnvelope;
  #reader: CallReader | null = null;

  constructor(context: CallReaderContext, envelope: JsonEnvelope) {
    this.#context = context;
    this.#envelope = envelope;
  }

  get inString(): boolean {
    return this.#reader?.inString ?? false;
  }

  get isDone(): boolean {
    return this.#reader?.isDone ?? false;
  }

  get isWhole(): boolean {
    return this.#reader?.isWhole ?? false;
  }

  get unclaimed(): string {
    return this.#reader?.unclaimed ?? '';
  }

  read(text: string, from: number, to: number): number {
    let at = from;
    if (!this.#reader) {
      while (at < to && /\s/.test(text[at]!)) at++;
      if (at === to) return at;
      if (text[at] === '[') this.#reader = new JsonEnvelopeListReader(this.#context, this.#envelope);
      else if (text[at] !== '{') return at;
      else if (this.#envelope.isKeyed)
        this.#reader = new JsonEnvelopeListReader(this.#context, this.#envelope, 'object');
      else this.#reader = new JsonEnvelopeReader(this.#context, this.#envelope);
    }
    return this.#reader.read(text, at, to);
  }

  begin(): boolean {
    return this.#reader?.begin?.() ?? false;
  }

  close(): boolean {
    return this.#reader?.close() ?? false;
  }
}
