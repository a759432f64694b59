/** The calls of one message as they come: their indices, ids and argument pieces. */
import type { ParserEvent } from './events.ts';
import type { ToolFormat } from './format.ts';
import type { ParameterAssembler } from './parameters.ts';
import { SchemaView } from './schema.ts';

const NAME_LIMIT = 256;
const WELL_FORMED_NAME = /^[^\s<>{}[\]()"'`|=,;]+$/u;
const UNKNOWN_FUNCTION = new SchemaView(undefined);

export interface CallsOptions {
  format: Pick<ToolFormat, 'callId' | 'createParameters'> | null;
  /** Parameter schemas by the names of the declared functions. */
  tools: ReadonlyMap<string, SchemaView>;
  /** Calls of the conversation before this message. */
  inHistory: number;
  emit(event: ParserEvent): void;
  /** Tokens read so far. */
  tokens(): number;
}

export class Calls {
  readonly #options: CallsOptions;
  #count = 0;
  #text = '';
  #hasArguments = false;
  /** Name of the open call, null without one. */
  name: string | null = null;
  /** Arguments of the open call that are written as parameters. */
  parameters: ParameterAssembler | null = null;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.name !== null;
  }

  isDeclared(name: string): boolean {
    return this.#options.tools.has(name);
  }

  /** Declared, or at least what a name can look like. */
  isPossible(name: string): boolean {
    return this.isDeclared(name) || (name.length <= NAME_LIMIT && WELL_FORMED_NAME.test(name));
  }

  schemaOf(name: string): SchemaView {
    return this.#options.tools.get(name) ?? UNKNOWN_FUNCTION;
  }

  start(name: string, header: string): void {
    const { format, inHistory, emit, tokens } = this.#options;
    const index = this.#count++;
    this.name = name;
    this.#hasArguments = false;
    const id = format?.callId?.(header, name, inHistory + index) ?? randomCallId();
    emit({ type: 'call-start', index, id, name, tokens: tokens() });
    this.parameters = format?.createParameters?.((json) => this.arguments(json), this.schemaOf(name)) ?? null;
  }

  arguments(json: string): void {
    this.#text += json;
    this.#hasArguments = true;
  }

  /** Gives out the argument text that has gathered. */
  flush(): void {
    if (this.#text === '') return;
    const text = this.#text;
    this.#text = '';
    this.#options.emit({
      type: 'call-arguments',
      index: this.#count - 1,
      text,
      tokens: this.#options.tokens(),
    });
  }

  end(type: 'call-end' | 'call-incomplete'): void {
    if (!this.isOpen) return;
    if (type === 'call-incomplete') this.parameters?.cut();
    if (type === 'call-end' && !this.#hasArguments) this.arguments('{}');
    this.flush();
    this.#options.emit({ type, index: this.#count - 1, tokens: this.#options.tokens() });
    this.name = null;
    this.parameters = null;
  }
}

/** An id in the form that vLLM gives. */
function randomCallId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `chatcmpl-tool-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
