/**
 * Classes of characters in the notation of xgrammar. Of characters beyond ASCII this build reads only a class with a
 * single one rightly, and classes that exclude ASCII characters only.
 */

/** Members beyond ASCII that are spelled one by one: a thousand take about a tenth of a second to compile. */
const MOST_SPELLED = 5000;

/** A class that can't be written in another way. */
export class UnspellableClassError extends Error {}

const LAST_ASCII = 0x7f;
const LAST = 0x10ffff;
const MEMBER =
  /\\(?:u(?<u>[0-9a-fA-F]{4})|U(?<U>[0-9a-fA-F]{8})|x(?<x>[0-9a-fA-F]{1,2})|(?<escaped>[\s\S]))|(?<plain>[\s\S])/gu;
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  v: '\v',
  0: '\0',
  a: '\x07',
};

type Range = [low: number, high: number];

/**
 * An expression of the same characters that xgrammar reads rightly.
 *
 * @param source the class with its brackets
 * @throws UnspellableClassError
 */
export function classExpression(source: string): string {
  // Most have nothing to look at.
  if (/^\[[\x20-\x7e]*\]$/.test(source) && !/\\[uUx]/.test(source)) return source;
  const isNegated = source.startsWith('[^');
  const ranges = rangesOf(source.slice(isNegated ? 2 : 1, -1));
  const beyond = ranges
    .filter(([, high]) => high > LAST_ASCII)
    .map(([low, high]): Range => [Math.max(low, LAST_ASCII + 1), high]);
  if (beyond.length === 0) return source;
  const ascii = ranges
    .filter(([low]) => low <= LAST_ASCII)
    .map(([low, high]): Range => [low, Math.min(high, LAST_ASCII)]);
  const isAll = coversAll(beyond);
  if (isNegated) {
    if (isAll) return classOf(complement(ascii)) ?? source;
    throw new UnspellableClassError(
      `the class ${shown(source)} leaves out characters beyond ASCII, which can't be told apart there: list the characters that may come`,
    );
  }
  if (isAll) return `[^${complement(ascii).map(written).join('')}]`;
  const [only, ...others] = beyond;
  if (ascii.length === 0 && others.length === 0 && only![0] === only![1]) return source;
  const count = beyond.reduce((sum, [low, high]) => sum + high - low + 1, 0);
  if (count > MOST_SPELLED) {
    throw new UnspellableClassError(
      `the class ${shown(source)} has ${count} characters beyond ASCII, and no more than ${MOST_SPELLED} can be held: list fewer, or take all of them with [^\\x00-\\x7f]`,
    );
  }
  const codes = new Set(
    beyond.flatMap(([low, high]) => Array.from({ length: high - low + 1 }, (_, index) => low + index)),
  );
  const spelled = [...codes]
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => `"${escaped(code)}"`);
  const rest = classOf(ascii);
  return `(${[...(rest === null ? [] : [rest]), ...spelled].join(' | ')})`;
}

function rangesOf(members: string): Range[] {
  const characters = Array.from(members.matchAll(MEMBER), ({ groups }) => {
    const { u, U, x, escaped, plain } = groups!;
    const hex = u ?? U ?? x;
    if (hex !== undefined) return { code: Number.parseInt(hex, 16), isDash: false };
    const text = escaped === undefined ? plain! : (ESCAPES[escaped] ?? escaped);
    return { code: text.codePointAt(0)!, isDash: plain === '-' };
  });
  const ranges: Range[] = [];
  for (let at = 0; at < characters.length; at++) {
    const low = characters[at]!.code;
    const last = characters[at + 2];
    if (characters[at + 1]?.isDash && last) {
      ranges.push([low, last.code]);
      at += 2;
    } else ranges.push([low, low]);
  }
  return ranges;
}

/** Whether ranges beyond ASCII leave no character out; halves of surrogate pairs are none. */
function coversAll(ranges: readonly Range[]): boolean {
  let next = LAST_ASCII + 1;
  for (const [low, high] of [...ranges, [0xd800, 0xdfff] as Range].sort((a, b) => a[0] - b[0])) {
    if (low > next) return false;
    next = Math.max(next, high + 1);
  }
  return next > LAST;
}

/** ASCII characters that none of the ranges has; the first four stand for tokens and signals. */
function complement(ranges: readonly Range[]): Range[] {
  const codes = Array.from({ length: LAST_ASCII + 1 }, (_, code) => code);
  return codes
    .filter((code) => code > 3 && !ranges.some(([low, high]) => code >= low && code <= high))
    .map((code): Range => [code, code]);
}

const classOf = (ranges: readonly Range[]) =>
  ranges.length === 0 ? null : `[${ranges.map(written).join('')}]`;

const written = ([low, high]: Range) => (low === high ? escaped(low) : `${escaped(low)}-${escaped(high)}`);

const escaped = (code: number) =>
  code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;

const shown = (source: string) => (source.length > 60 ? `${source.slice(0, 60)}…` : source);
