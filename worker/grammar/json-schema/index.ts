/**
 * JSON Schema as rules of a grammar.
 *
 * Held while sampling: types, `enum` and `const`, `$ref` (also recursive), `anyOf`, `oneOf`, `allOf` with whatever
 * stands beside them, `if`, dependencies, properties (in the order of declaration, or any order when there are at
 * most four), required ones, further ones and patterns for their keys, items and their number, bounds of numbers,
 * `multipleOf` where digits tell it, `pattern`, `format`, lengths. Reported for a check afterwards: that only one
 * branch of `oneOf` fits, `not` and `if`, `uniqueItems`, `contains`, `unevaluated…`, other multiples, patterns that
 * no automaton can follow. Refused: references that lead nowhere or outside, schemas that nothing fits.
 *
 * A value is one line of JSON with at most one space behind each comma and colon. Keys that are not declared, beside
 * declared ones, have no escapes.
 */
import type { EbnfGrammar } from '../ebnf.ts';
import { SchemaDocument } from './schema.ts';
import { unfitError, type ValueRuleOptions, ValueRules } from './value-rules.ts';

export type { PostCheck } from './alternatives.ts';
export { keywordsRule } from './keyword-arguments.ts';
export { delimitedNotation } from './notation.ts';
export type { ParameterStyle } from './parameter-style.ts';
export { parametersRule } from './parameters.ts';
export { type Violation, validateJson } from './validate.ts';
export type { ValueRuleOptions } from './value-rules.ts';

/**
 * Adds the rules of a schema's values to a grammar.
 *
 * @returns the name of the rule of one value
 * @throws BadRequestError with the place of what is wrong or can't be satisfied
 */
export function jsonRule(grammar: EbnfGrammar, schema: unknown, options: ValueRuleOptions): string {
  const rules = new ValueRules(grammar, new SchemaDocument(schema, options.path), options);
  const { root } = rules.document;
  const name = rules.rule(root === false ? null : root === true ? [] : [root]);
  if (name === null) throw unfitError('value', rules);
  rules.checkEnds();
  return name;
}
