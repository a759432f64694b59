/** Arguments as keywords of a call in Python: `city="Oslo", days=3`. */
import { isKeyword } from '../../../src/parser/python-calls.ts';
import type { EbnfGrammar } from '../ebnf.ts';
import { type Conjunction, commonTypes } from './alternatives.ts';
import { BareMembers, pythonNotation } from './notation.ts';
import { objectExpression } from './object-rules.ts';
import { SchemaDocument, schemaError } from './schema.ts';
import { objectShape } from './shape.ts';
import { unfitError, type ValueRuleOptions, ValueRules } from './value-rules.ts';

/** Keywords that are not declared are identifiers in ASCII. */
const ANY_KEYWORD = '^[A-Za-z_][A-Za-z0-9_]*$';

/**
 * Adds the rules of a schema's properties, each written as a keyword with a Python literal, to a grammar.
 *
 * @returns the name of the rule of all arguments
 * @throws BadRequestError with the place of what is wrong or can't be satisfied, and for a property whose name is no
 * keyword
 */
export function keywordsRule(grammar: EbnfGrammar, schema: unknown, options: ValueRuleOptions): string {
  const document = new SchemaDocument(schema, options.path);
  const rules = new ValueRules(grammar, document, { ...options, notation: pythonNotation(grammar) });
  const keywords = new BareMembers(grammar, {
    open: '',
    colon: '=',
    close: '',
    others: ANY_KEYWORD,
    isBare: isKeyword,
    quote: (key) => {
      throw schemaError(
        `The property ${JSON.stringify(key)} can't be a keyword in the calls of this model: name it with letters, digits and "_".`,
        options.path,
        'schema_unsupported',
      );
    },
  });
  const { root } = document;
  const alternatives = root === false ? [] : rules.alternatives(root === true ? [] : [root]);
  const write = (nodes: Conjunction) => {
    if (!commonTypes(nodes).includes('object')) return [];
    const shape = objectShape(document, nodes, rules.options.isClosed, rules.report);
    return objectExpression(rules, shape, nodes, keywords)?.expression ?? [];
  };
  const make = () => alternatives.flatMap(write);
  const found = alternatives.length > 1 ? grammar.alike(make, (expression) => expression) : make();
  if (found.length === 0) {
    if (alternatives.length > 1) rules.unfit = null;
    throw unfitError('arguments', rules);
  }
  rules.checkEnds();
  return grammar.rule('keywords', [...new Set(found)].join(' | '));
}
