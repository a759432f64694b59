/**
 * Structural tags that come with a request, in the notation of xgrammar: a tree of formats.
 *
 * ```
 * { "type": "structural_tag", "format": { "type": "triggered_tags", "triggers": ["<f>"], "tags": [
 *   { "type": "tag", "begin": "<f>", "content": { "type": "json_schema", "json_schema": { … } }, "end": "</f>" } ] } }
 * ```
 */
import { BadRequestError } from '../../src/errors.ts';
import type { EbnfGrammar } from './ebnf.ts';
import { givenGrammar } from './given-grammar.ts';
import { jsonRule } from './json-schema/index.ts';
import { pathTo } from './json-schema/schema.ts';
import { escapeRegex } from './language/regex.ts';
import { regexRule } from './rules.ts';

type Fields = Record<string, unknown>;

interface Tag {
  begin: string;
  content: unknown;
  end: string;
  path: string;
}

/** Adds a given structural tag to a grammar; returns the expression of the whole content. */
export function givenTag(grammar: EbnfGrammar, tag: unknown, path: string): string {
  const outer = objectAt(tag, path);
  if (outer.type !== 'structural_tag') {
    throw wrong(path, 'A structural tag is an object of type "structural_tag" with a format.');
  }
  const other = Object.keys(outer).find((field) => field !== 'type' && field !== 'format');
  if (other !== undefined) {
    throw wrong(
      pathTo(path, other),
      'A structural tag has a type and a format only.',
      'unsupported_parameter',
    );
  }
  return new TagReader(grammar).format(outer.format, pathTo(path, 'format'));
}

class TagReader {
  readonly #grammar: EbnfGrammar;

  constructor(grammar: EbnfGrammar) {
    this.#grammar = grammar;
  }

  format(given: unknown, path: string): string {
    const format = objectAt(given, path);
    checkFields(format, path);
    switch (format.type) {
      case 'const_string':
        return this.#text(textAt(format.value, pathTo(path, 'value')));
      case 'json_schema':
        if (format.style !== undefined && format.style !== 'json') {
          throw wrong(pathTo(path, 'style'), 'Only the style "json" is supported here.', 'unsupported_value');
        }
        if (format.any_order !== undefined && format.any_order !== false) {
          throw wrong(
            pathTo(path, 'any_order'),
            'Properties are written in the order in which the schema declares them.',
            'unsupported_value',
          );
        }
        return jsonRule(this.#grammar, format.json_schema, { path: pathTo(path, 'json_schema') });
      case 'grammar':
        return givenGrammar(
          this.#grammar,
          textAt(format.grammar, pathTo(path, 'grammar')),
          pathTo(path, 'grammar'),
        );
      case 'any_text':
        return `${this.#guard(format, path, null)} ${this.#grammar.freeText([])}`;
      case 'regex':
        return regexRule(
          this.#grammar,
          textAt(format.pattern, pathTo(path, 'pattern')),
          pathTo(path, 'pattern'),
        );
      case 'sequence':
        return this.#sequence(listAt(format.elements, pathTo(path, 'elements')), pathTo(path, 'elements'));
      case 'or':
        return this.#either(
          listAt(format.elements, pathTo(path, 'elements')).map((element, index) =>
            this.format(element, pathTo(pathTo(path, 'elements'), index)),
          ),
        );
      case 'optional':
        return `(${this.format(format.content, pathTo(path, 'content'))})?`;
      case 'star':
      case 'plus':
        if (isUnlimited(format.content)) {
          throw wrong(pathTo(path, 'content'), 'What is repeated must have an end of its own.');
        }
        return `(${this.format(format.content, pathTo(path, 'content'))})${format.type === 'star' ? '*' : '+'}`;
      case 'tag':
        return this.#tag(tagAt(format, path));
      case 'triggered_tags':
        return this.#triggered(format, path);
      case 'tags_with_separator':
        return this.#separated(format, path);
    }
    throw new Error(`No rule for the format ${String(format.type)}.`);
  }

  #sequence(elements: readonly unknown[], path: string): string {
    for (const [index, element] of elements.slice(0, -1).entries()) {
      if (isUnlimited(element)) {
        throw wrong(pathTo(path, index), 'Only the last element of a sequence can be text without an end.');
      }
    }
    return elements.map((element, index) => `(${this.format(element, pathTo(path, index))})`).join(' ');
  }

  /** A tag, of whose beginning the first `begun` characters are written already. */
  #tag({ begin, content, end, path }: Tag, begun = 0): string {
    const opener = this.#text(begin.slice(begun));
    const inner = objectAt(content, pathTo(path, 'content'));
    if (inner.type === 'any_text') {
      if (end === '') throw wrong(pathTo(path, 'end'), 'A tag around any text needs an end.');
      checkFields(inner, pathTo(path, 'content'));
      const guard = this.#guard(inner, pathTo(path, 'content'), end);
      return `${opener} ${guard} ${this.#grammar.textUntil(end)}`;
    }
    if (isUnlimited(inner) && end !== '') {
      throw wrong(
        pathTo(path, 'content'),
        'What stands in a tag with an end must have an end of its own.',
        'unsupported_value',
      );
    }
    return `${opener} (${this.format(inner, pathTo(path, 'content'))}) ${this.#text(end)}`;
  }

  /** What keeps excluded texts out of a text up to `closer`. */
  #guard(format: Fields, path: string, closer: string | null): string {
    const texts = this.#excluded(format, path);
    if (texts.length === 0) return '""';
    const language = [texts.map((text) => ({ notPattern: escapeRegex(text) }))];
    return this.#grammar.guard({ kind: 'text', language, closer });
  }

  /** Excluded texts; an added token can't stand in free text anyhow. */
  #excluded({ excludes = [] }: Fields, path: string): string[] {
    if (!Array.isArray(excludes)) {
      throw wrong(
        pathTo(path, 'excludes'),
        `'${pathTo(path, 'excludes')}' must be an array.`,
        'invalid_type',
      );
    }
    const texts = excludes.map((text, index) => textAt(text, pathTo(pathTo(path, 'excludes'), index)));
    return texts.filter((text) => !this.#grammar.hasToken(text));
  }

  #triggered(format: Fields, path: string): string {
    const [excluded] = this.#excluded(format, path);
    if (excluded !== undefined) {
      throw wrong(
        pathTo(path, 'excludes'),
        `Beside tags only added tokens of the model can be excluded, which ${JSON.stringify(excluded)} is not.`,
        'unsupported_value',
      );
    }
    const triggers = listAt(format.triggers, pathTo(path, 'triggers')).map((trigger, index) =>
      textAt(trigger, pathTo(pathTo(path, 'triggers'), index)),
    );
    const tags = tagsAt(format.tags, pathTo(path, 'tags'));
    const isOnce = format.stop_after_first === true;
    const dispatches = tags.map((tag) => {
      const matching = triggers.filter((trigger) => trigger !== '' && tag.begin.startsWith(trigger));
      if (matching.length !== 1) {
        throw wrong(
          pathTo(tag.path, 'begin'),
          `The tag's beginning must begin with exactly one of the triggers; it does with ${matching.length}.`,
        );
      }
      return { opener: matching[0]!, body: this.#tag(tag, matching[0]!.length) };
    });
    const text = this.#grammar.freeText(dispatches, { isOnce });
    if (format.at_least_one !== true) return text;
    const first = this.#either(tags.map((tag) => this.#tag(tag)));
    return isOnce ? first : `${first} ${text}`;
  }

  #separated(format: Fields, path: string): string {
    const tags = this.#either(tagsAt(format.tags, pathTo(path, 'tags')).map((tag) => this.#tag(tag)));
    const separator = format.separator ?? '';
    if (typeof separator !== 'string') throw wrong(pathTo(path, 'separator'), 'A separator is a string.');
    const several = format.stop_after_first === true ? tags : `${tags} (${this.#text(separator)} ${tags})*`;
    return format.at_least_one === true ? several : `(${several})?`;
  }

  #either(expressions: readonly string[]): string {
    return this.#grammar.rule('either', expressions.map((expression) => `(${expression})`).join(' | '));
  }

  #text(text: string): string {
    return text === '' ? '""' : this.#grammar.markup(text);
  }
}

/** Formats that go on until the model ends its turn. */
function isUnlimited(format: unknown): boolean {
  const { type, elements, content } = (format ?? {}) as Fields;
  if (type === 'any_text' || type === 'regex' || type === 'triggered_tags') return true;
  if (type === 'optional' || type === 'star' || type === 'plus') return isUnlimited(content);
  return (type === 'sequence' || type === 'or') && Array.isArray(elements) && elements.some(isUnlimited);
}

/** Fields of each format besides its type. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  const_string: ['value'],
  json_schema: ['json_schema', 'style', 'any_order'],
  grammar: ['grammar'],
  any_text: ['excludes'],
  regex: ['pattern'],
  sequence: ['elements'],
  or: ['elements'],
  optional: ['content'],
  star: ['content'],
  plus: ['content'],
  tag: ['begin', 'content', 'end'],
  triggered_tags: ['triggers', 'tags', 'at_least_one', 'stop_after_first', 'excludes'],
  tags_with_separator: ['tags', 'separator', 'at_least_one', 'stop_after_first'],
};

/** What would be ignored is refused. */
function checkFields(format: Fields, path: string): void {
  const known = typeof format.type === 'string' && Object.hasOwn(FIELDS, format.type) && FIELDS[format.type];
  if (!known) {
    throw wrong(
      pathTo(path, 'type'),
      `The format ${JSON.stringify(format.type)} of a structural tag is not one of ${Object.keys(FIELDS).join(', ')}.`,
      'unsupported_value',
    );
  }
  for (const [field, value] of Object.entries(format)) {
    if (field === 'type' || value === undefined) continue;
    if (!known.includes(field)) {
      throw wrong(
        pathTo(path, field),
        `A ${format.type} has the fields ${known.join(', ')}, not ${JSON.stringify(field)}.`,
        'unsupported_parameter',
      );
    }
    if (FLAGS.includes(field) && typeof value !== 'boolean') {
      throw wrong(pathTo(path, field), `'${pathTo(path, field)}' must be true or false.`, 'invalid_type');
    }
  }
}

const FLAGS = ['at_least_one', 'stop_after_first', 'any_order'];

const wrong = (param: string, message: string, code = 'invalid_value') =>
  new BadRequestError(message, { param, code });

function objectAt(value: unknown, path: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw wrong(path, `'${path}' must be an object.`, 'invalid_type');
}

function listAt(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value) && value.length > 0) return value;
  throw wrong(path, `'${path}' must be an array with at least one element.`, 'invalid_type');
}

function textAt(value: unknown, path: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw wrong(path, `'${path}' must be a string with text.`, 'invalid_type');
}

function tagAt({ begin, content, end }: Fields, path: string): Tag {
  if (typeof begin !== 'string')
    throw wrong(pathTo(path, 'begin'), `'${path}.begin' must be a string.`, 'invalid_type');
  if (typeof end !== 'string')
    throw wrong(pathTo(path, 'end'), `'${path}.end' must be a string.`, 'invalid_type');
  return { begin, content, end, path };
}

const tagsAt = (value: unknown, path: string): Tag[] =>
  listAt(value, path).map((given, index) => {
    const tag = objectAt(given, pathTo(path, index));
    // Older notations leave the type out.
    checkFields({ ...tag, type: tag.type ?? 'tag' }, pathTo(path, index));
    return tagAt(tag, pathTo(path, index));
  });
