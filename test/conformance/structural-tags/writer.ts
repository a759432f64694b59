/** Writes an output that a structural tag of xgrammar's notation admits, and what it means. */
import type { Random } from '../../agreement/random.ts';

type Format = Record<string, unknown> & { type: string };

export interface Written {
  text: string;
  content: string;
  calls: { name: string; arguments: Record<string, unknown> }[];
}

const THOUGHTS = ['She wants f.', '\nLook it up: "a" < b.\n', 'Élan\n\nvital 日本', ''];
const TEXTS = ['On it.', 'Réponse : {"a": 1}', 'One.\n\nTwo `x`'];
const VALUES = ['Oslo', 'São "P" \\ <b>', 'two\nlines', '日本 😀', '42', ''];

/** Parameters in the XML-like style of this name. */
const STYLES: Readonly<Record<string, (key: string, value: string, isText: boolean) => string>> = {
  qwen_xml: (key, value) => `<parameter=${key}>\n${value}\n</parameter>`,
  minimax_xml: (key, value) => `<parameter name="${key}">${value}</parameter>\n`,
  deepseek_xml: (key, value, isText) =>
    `<｜DSML｜parameter name="${key}" string="${isText}">${value}</｜DSML｜parameter>\n`,
  glm_xml: (key, value) => `<arg_key>${key}</arg_key><arg_value>${value}</arg_value>`,
  kimi_k3_xml: (key, value, isText) =>
    `<|open|>argument key="${key}" type="${isText ? 'string' : typeOf(value)}"<|sep|>${value}<|close|>argument<|sep|>`,
};
const JOINED: Readonly<Record<string, string>> = { qwen_xml: '\n' };

/** @throws Error for a part that has no writer here */
export function write(format: unknown, random: Random): Written {
  const written: Written = { text: '', content: '', calls: [] };
  new TagWriter(written, random).write(format as Format);
  return written;
}

class TagWriter {
  readonly #out: Written;
  readonly #random: Random;

  constructor(out: Written, random: Random) {
    this.#out = out;
    this.#random = random;
  }

  write(format: Format): void {
    const random = this.#random;
    switch (format.type) {
      case 'const_string':
        this.#out.text += format.value as string;
        return;
      case 'regex':
        if (format.pattern !== '\\d+' && format.pattern !== '[0-9]+')
          throw new Error(`No text for the pattern ${String(format.pattern)}.`);
        this.#out.text += String(this.#out.calls.length);
        return;
      case 'optional':
        if (random.chance(0.6)) this.write(format.content as Format);
        return;
      case 'plus':
      case 'star':
        this.#repeated(format.content as Format);
        return;
      case 'sequence':
        for (const element of format.elements as Format[]) this.write(element);
        return;
      case 'any_text':
        this.#content();
        return;
      case 'tag':
        this.#tag(format);
        return;
      case 'triggered_tags': {
        const count = format.stop_after_first ? 1 : random.between(format.at_least_one ? 1 : 0, 3);
        if (!format.at_least_one && random.chance(0.7)) this.#content();
        for (let index = 0; index < count; index++) this.write(random.pick(format.tags as Format[]));
        return;
      }
      case 'tags_with_separator': {
        const count = format.stop_after_first ? 1 : random.between(format.at_least_one ? 1 : 0, 3);
        for (let index = 0; index < count; index++) {
          if (index > 0) this.#out.text += format.separator as string;
          this.write(random.pick(format.tags as Format[]));
        }
        return;
      }
      case 'json_schema':
        this.#arguments(format);
        return;
      default:
        throw new Error(`No writer for ${format.type}.`);
    }
  }

  #content(): void {
    const text = this.#random.pick(TEXTS);
    this.#out.text += text;
    this.#out.content += text;
  }

  /** Arguments that vLLM describes without a schema: a text of the key that is named, or any. */
  #repeated({ begin, end }: Format): void {
    const [, key] = /key="(\w)"/.exec(begin as string) ?? [];
    this.#arguments({
      type: 'json_schema',
      json_schema: key === undefined || { type: 'object' },
      style: end === '<|close|>argument<|sep|>' ? 'kimi_k3_xml' : undefined,
    });
  }

  #tag({ begin, content, end }: Format): void {
    const out = this.#out;
    out.text += begin as string;
    const inner = content as Format;
    if (inner.type === 'any_text') {
      // Text with an end of its own is reasoning, unless its channel or its end says that it is the answer.
      if ((begin as string).includes('final') || String(end).includes('response')) this.#content();
      else out.text += this.#random.pick(THOUGHTS);
    } else this.write(inner);
    out.text += Array.isArray(end) ? this.#random.pick(end as string[]) : (end as string);
  }

  #arguments({ json_schema, style = 'json' }: Format): void {
    const random = this.#random;
    const isOpen = json_schema === true;
    const values: Record<string, unknown> = isOpen
      ? random.pick([{}, { x: [1, 'é'] }, { x: true, y: 'no <i>' }])
      : { a: random.pick(VALUES) };
    this.#out.calls.push({ name: isOpen ? 'g' : 'f', arguments: values });
    if (style === 'json') {
      this.#out.text += spaced(values);
      return;
    }
    const parameter = STYLES[style as string];
    if (!parameter) throw new Error(`No writer for the style ${String(style)}.`);
    this.#out.text += Object.entries(values)
      .map(([key, value]) => {
        const isText = typeof value === 'string';
        return parameter(key, isText ? value : spaced(value), isText);
      })
      .join(JOINED[style as string] ?? '');
  }
}

/** The name of a JSON text's type. */
function typeOf(json: string): string {
  const value: unknown = JSON.parse(json);
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

/** JSON with a space behind commas and colons. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}: ${spaced(member)}`)
    .join(', ')}}`;
}
