import type { LanguagePart, LanguageSpec } from '../guard/spec.ts';
import { AllowanceSpentError } from '../language/allowance.ts';
import { AutomatonTooLargeError, DEAD } from '../language/automaton.ts';
import { formatSource } from '../language/formats.ts';
import { languageOf } from '../language/language.ts';
import { UnsupportedRegexError } from '../language/regex.ts';
import type { Conjunction, PostCheck } from './alternatives.ts';
import { pathTo, type SchemaNode, schemaError } from './schema.ts';

type Report = (check: PostCheck) => void;

/**
 * What the string keywords of the nodes ask for; null if no string satisfies them. What can't be followed while a
 * text is written is reported.
 *
 * @throws BadRequestError with the place at which the patterns of a request have become too much work
 */
export function stringParts(nodes: Conjunction, report: Report): LanguagePart[] | null {
  try {
    return partsOf(nodes, report);
  } catch (error) {
    if (!(error instanceof AllowanceSpentError)) throw error;
    throw schemaError(`Up to here ${error.message}.`, nodes.at(-1)!.path, 'schema_too_large');
  }
}

function partsOf(nodes: Conjunction, report: Report): LanguagePart[] | null {
  const parts: LanguagePart[] = [];
  for (const node of nodes) {
    const { pattern, format } = node.keywords;
    if (typeof pattern === 'string') addPart(parts, { pattern }, node, 'pattern', report);
    if (typeof format === 'string') {
      const source = formatSource(format);
      if (source === 'check') report({ keyword: 'format', path: pathTo(node.path, 'format') });
      else if (source !== null) addPart(parts, { format }, node, 'format', report);
    }
  }
  const numbers = (keyword: string) =>
    nodes.flatMap(({ keywords }) => (typeof keywords[keyword] === 'number' ? [keywords[keyword]] : []));
  const min = Math.max(0, ...numbers('minLength'));
  const max = Math.min(Number.POSITIVE_INFINITY, ...numbers('maxLength'));
  if (min > max) return null;
  if (min > 0 || max < Number.POSITIVE_INFINITY) {
    parts.push({ min, max: max === Number.POSITIVE_INFINITY ? null : max });
  }
  return followable(parts, nodes, report);
}

function addPart(
  parts: LanguagePart[],
  part: LanguagePart,
  node: SchemaNode,
  keyword: string,
  report: Report,
) {
  if (canFollow([[part]])) parts.push(part);
  else report({ keyword, path: pathTo(node.path, keyword) });
}

/** All parts, or as many as make an automaton that is not too large. */
function followable(parts: LanguagePart[], nodes: Conjunction, report: Report): LanguagePart[] | null {
  let kept = parts;
  while (kept.length > 1 && !canFollow([kept])) {
    kept = kept.slice(0, -1);
    for (const node of nodes) {
      for (const keyword of ['minLength', 'maxLength', 'pattern', 'format']) {
        if (keyword in node.keywords) report({ keyword, path: pathTo(node.path, keyword) });
      }
    }
  }
  return kept.length > 0 && languageOf([kept]).start === DEAD ? null : kept;
}

/** Whether a guard can follow texts of this language. */
export function canFollow(spec: LanguageSpec): boolean {
  try {
    languageOf(spec);
    return true;
  } catch (error) {
    if (isUnfollowable(error)) return false;
    throw error;
  }
}

/** Whether an error says that texts can't be followed while they are written. */
export const isUnfollowable = (error: unknown) =>
  error instanceof UnsupportedRegexError || error instanceof AutomatonTooLargeError;
