/** Sets of code points as sorted, disjoint, inclusive ranges. */
export type CodePoints = readonly (readonly [number, number])[];

export const MAX_CODE_POINT = 0x10ffff;
export const ANY: CodePoints = [[0, MAX_CODE_POINT]];

export function union(...sets: CodePoints[]): CodePoints {
  const ranges = sets.flat().toSorted((a, b) => a[0] - b[0]);
  const merged: [number, number][] = [];
  for (const [low, high] of ranges) {
    const last = merged.at(-1);
    if (last && low <= last[1] + 1) last[1] = Math.max(last[1], high);
    else merged.push([low, high]);
  }
  return merged;
}

export function complement(set: CodePoints): CodePoints {
  const rest: [number, number][] = [];
  let next = 0;
  for (const [low, high] of set) {
    if (low > next) rest.push([next, low - 1]);
    next = high + 1;
  }
  if (next <= MAX_CODE_POINT) rest.push([next, MAX_CODE_POINT]);
  return rest;
}

/** Without the halves of surrogate pairs, which no text that a model writes has by themselves. */
export function scalars(set: CodePoints): CodePoints {
  return complement(union(complement(set), [[0xd800, 0xdfff]]));
}

/** All code points that match a regular expression for one character. */
export function matching(expression: RegExp): CodePoints {
  const ranges: [number, number][] = [];
  for (let code = 0; code <= MAX_CODE_POINT; code++) {
    if (!expression.test(String.fromCodePoint(code))) continue;
    const last = ranges.at(-1);
    if (last && last[1] === code - 1) last[1] = code;
    else ranges.push([code, code]);
  }
  return ranges;
}

const of = (text: string): CodePoints =>
  union(Array.from(text, (character) => [character.codePointAt(0)!, character.codePointAt(0)!] as const));

/** The classes of regular expressions, as ECMAScript defines them. */
export const DIGIT: CodePoints = [[0x30, 0x39]];
export const WORD: CodePoints = union(
  DIGIT,
  [
    [0x41, 0x5a],
    [0x61, 0x7a],
  ],
  of('_'),
);
export const SPACE: CodePoints = union(of('\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff'), [
  [0x2000, 0x200a],
]);
export const LINE_END: CodePoints = of('\n\r\u2028\u2029');
