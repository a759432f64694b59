import type { EbnfGrammar } from '../ebnf.ts';
import { repeat } from './array-rules.ts';

/** Members of at most so many may come in any order. */
const MOST_UNORDERED = 4;

export interface SequenceParts {
  members: readonly { expression: string; isRequired: boolean }[];
  /** A further member, any number of times; null for none. */
  other: string | null;
  /** Between two members. */
  separator: string;
  /** Behind the last. */
  end: string;
  /** How many members there may be. */
  min: number;
  max: number;
}

/**
 * Members with separators between them, each at most once, required ones exactly once: in their order, followed by
 * further members; or, when they are few and not counted, in any order.
 *
 * @returns an expression; null if nothing satisfies the counts
 */
export function sequence(grammar: EbnfGrammar, parts: SequenceParts): string | null {
  return new Sequence(grammar, parts).expression();
}

class Sequence {
  readonly #grammar: EbnfGrammar;
  readonly #parts: SequenceParts;
  readonly #isCounted: boolean;
  readonly #states = new Map<string, string | null>();

  constructor(grammar: EbnfGrammar, parts: SequenceParts) {
    this.#grammar = grammar;
    this.#parts = parts;
    const { members, other, min, max } = parts;
    this.#isCounted = min > 0 || max < (other === null ? members.length : Number.POSITIVE_INFINITY);
  }

  expression(): string | null {
    const { members, other } = this.#parts;
    if (this.#isCounted) return this.#counted(0, 0);
    const isFree = members.length > (other === null ? 1 : 0) && members.length <= MOST_UNORDERED;
    return isFree ? this.#unordered((1 << members.length) - 1, true) : this.#ordered();
  }

  #behind(isFirst: boolean, member: string): string {
    const { separator } = this.#parts;
    return isFirst || separator === '' ? member : `${separator} ${member}`;
  }

  /** In their order. */
  #ordered(): string {
    const { members, separator } = this.#parts;
    const first = members.findIndex(({ isRequired }) => isRequired);
    const behind = (index: number) => this.#chain(members.slice(index), this.#end(1)!, separator, '');
    if (separator === '') return behind(0);
    if (first >= 0) {
      const rest = `${members[first]!.expression} ${behind(first + 1)}`;
      return this.#chain(members.slice(0, first), rest, '', separator);
    }
    let rest = this.#end(1)!;
    const alternatives = [this.#end(0)!];
    for (const { expression } of members.toReversed()) {
      alternatives.unshift(`${expression} ${rest}`);
      rest = this.#grammar.rule('members', `(${separator} ${expression})? ${rest}`);
    }
    return this.#grammar.rule('members', alternatives.join(' | '));
  }

  /**
   * Members with what stands around each, and what follows them. A rule for each that may be left out: in one rule
   * for all, the places that each may be followed by grow with their square, and the time to compile with its cube.
   */
  #chain(members: SequenceParts['members'], end: string, before: string, after: string): string {
    let rest = end;
    for (const { expression, isRequired } of members.toReversed()) {
      const member = [before, expression, after].filter((part) => part !== '').join(' ');
      if (isRequired) rest = `${member} ${rest}`;
      else {
        if (rest !== '""' && !this.#grammar.has(rest)) rest = this.#grammar.rule('members', rest);
        rest = this.#grammar.rule('members', `${member} ${rest} | ${rest}`);
      }
    }
    return rest;
  }

  /** In their order and counted: members from `index` on, behind `written` others; null if that can't be. */
  #counted(index: number, written: number): string | null {
    const key = `${index} ${written}`;
    let body = this.#states.get(key);
    if (body === undefined) {
      body = this.#countedBody(index, written);
      this.#states.set(key, body);
    }
    return body;
  }

  #countedBody(index: number, written: number): string | null {
    const { members, max } = this.#parts;
    if (index === members.length) return this.#end(written);
    const { expression, isRequired } = members[index]!;
    const next = written < max ? this.#counted(index + 1, written + 1) : null;
    const taken = next === null ? null : `${this.#behind(written === 0, expression)} ${next}`;
    if (isRequired) return taken;
    const left = this.#counted(index + 1, written);
    if (taken === null || left === null) return taken ?? left;
    return this.#grammar.rule('members', `${taken} | ${left}`);
  }

  /** Further members, and the end. */
  #end(written: number): string | null {
    const { other, end } = this.#parts;
    const min = this.#isCounted ? Math.max(0, this.#parts.min - written) : 0;
    const max = this.#isCounted ? this.#parts.max - written : Number.POSITIVE_INFINITY;
    if (other === null || max <= 0) return min > 0 ? null : end;
    const next = this.#behind(false, other);
    if (written > 0) return this.#grammar.rule('others', `${repeat(next, min, max)} ${end}`);
    const some = `${other} ${repeat(next, min - 1, max - 1)}`;
    return this.#grammar.rule('others', min > 0 ? `${some} ${end}` : `(${some})? ${end}`);
  }

  /** In any order: `left` has a bit for each member that may come. */
  #unordered(left: number, isFirst: boolean): string {
    const key = `${left} ${isFirst}`;
    let name = this.#states.get(key);
    if (!name) {
      if (left === 0) name = this.#end(1)!;
      else {
        name = this.#grammar.reserve('members');
        // Further members lead back to the state that they come from.
        this.#states.set(key, name);
        this.#grammar.define(name, this.#unorderedBody(left, isFirst));
      }
      this.#states.set(key, name);
    }
    return name;
  }

  #unorderedBody(left: number, isFirst: boolean): string {
    const { members, other, end } = this.#parts;
    let mayEnd = true;
    const alternatives: string[] = [];
    for (const [index, { expression, isRequired }] of members.entries()) {
      if (((left >> index) & 1) === 0) continue;
      mayEnd &&= !isRequired;
      alternatives.push(
        `${this.#behind(isFirst, expression)} ${this.#unordered(left & ~(1 << index), false)}`,
      );
    }
    if (other !== null) alternatives.push(`${this.#behind(isFirst, other)} ${this.#unordered(left, false)}`);
    if (mayEnd) alternatives.push(end);
    return alternatives.join(' | ');
  }
}
