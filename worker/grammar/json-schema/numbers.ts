/** Numbers in a range, digit by digit. */
import { aligned, compare, type Decimal, decimalOf, digitsOf } from './decimal.ts';

export interface Bound {
  value: Decimal;
  isExclusive: boolean;
}

export interface NumberRange {
  min: Bound | null;
  max: Bound | null;
}

/** Without bounds, as expressions of a grammar. Exponents keep a number finite, unless its digits fill a page. */
export const ANY_INTEGER = '"0" | "-"? [1-9] [0-9]*';
export const ANY_NUMBER =
  '"-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] ("-" [0-9]{1,3} | "+"? ([0-9] [0-9]? | [12] [0-9] [0-9] | "30" [0-7])))?';

/** Digits of a bound that patterns of numbers follow in any case. */
const MOST_WHOLE = 40;
const MOST_PLACES = 20;

/** A range that holds all numbers of another, with bounds of fewer digits. */
export function relaxed({ min, max }: NumberRange): NumberRange {
  const above = max && relaxedBelow({ value: negated(max.value), isExclusive: max.isExclusive });
  return {
    min: min && relaxedBelow(min),
    max: above && { value: negated(above.value), isExclusive: above.isExclusive },
  };
}

/** A lower bound that is no higher; null for none. */
function relaxedBelow(bound: Bound): Bound | null {
  const { units, places } = bound.value;
  if (places > MOST_PLACES) {
    const scale = 10n ** BigInt(places - MOST_PLACES);
    const floor = units / scale - (units < 0n ? 1n : 0n);
    return relaxedBelow({ value: { units: floor, places: MOST_PLACES }, isExclusive: true });
  }
  const most = 10n ** BigInt(MOST_WHOLE + places);
  if (units > most) return { value: { units: 10n ** BigInt(MOST_WHOLE), places: 0 }, isExclusive: false };
  return units < -most ? null : bound;
}

const FRACTION = '(?:\\.[0-9]+)?';
const DIGITS = '[0-9]*';
const ABOVE_ZERO = '0*[1-9][0-9]*';

const digitRange = (from: number, to: number) => (from === to ? String(from) : `[${from}-${to}]`);
const oneOf = (alternatives: readonly (string | null)[]): string | null => {
  const left = alternatives.filter((alternative) => alternative !== null);
  return left.length === 0 ? null : left.length === 1 ? left[0]! : `(?:${left.join('|')})`;
};
const repeated = (count: number) => (count === 0 ? '' : count === 1 ? '[0-9]' : `[0-9]{${count}}`);

/** Whole numbers in a range, as a regular expression; null if there is none. */
export function integerPattern({ min, max }: NumberRange): string | null {
  const low = min && ceiling(min);
  const high = max && -ceiling({ value: negated(max.value), isExclusive: max.isExclusive });
  return signed(low, high, wholePattern);
}

/** The least whole number within a lower bound. */
function ceiling({ value: { units, places }, isExclusive }: Bound): bigint {
  const scale = 10n ** BigInt(places);
  const floor = units / scale - (units % scale < 0n ? 1n : 0n);
  const isWhole = units % scale === 0n;
  return isWhole && !isExclusive ? floor : floor + 1n;
}

function signed(
  low: bigint | null,
  high: bigint | null,
  magnitude: (low: bigint, high: bigint | null) => string | null,
): string | null {
  if (low !== null && high !== null && low > high) return null;
  const negative =
    low === null || low < 0n
      ? magnitude(high !== null && high < 0n ? -high : 1n, low === null ? null : -low)
      : null;
  const positive = high === null || high >= 0n ? magnitude(low !== null && low > 0n ? low : 0n, high) : null;
  return oneOf([negative === null ? null : `-${negative}`, positive]);
}

/** Whole numbers from `low` on that are not negative. */
function wholePattern(low: bigint, high: bigint | null): string | null {
  if (high !== null && low > high) return null;
  const from = String(low);
  if (high === null) {
    return oneOf([sameLength(from, '9'.repeat(from.length)), `[1-9]${repeated(from.length)}${DIGITS}`]);
  }
  const to = String(high);
  if (from.length === to.length) return sameLength(from, to);
  const between = to.length - from.length - 1;
  return oneOf([
    sameLength(from, '9'.repeat(from.length)),
    between === 0 ? null : `[1-9][0-9]{${from.length},${to.length - 2}}`,
    sameLength(`1${'0'.repeat(to.length - 1)}`, to),
  ]);
}

/** Digit strings of one length, from `low` to `high`. */
function sameLength(low: string, high: string): string {
  if (low === high) return low;
  const [a, b, rest] = [Number(low[0]), Number(high[0]), low.length - 1];
  const [afterLow, afterHigh] = [low.slice(1), high.slice(1)];
  if (a === b) return `${a}${sameLength(afterLow, afterHigh)}`;
  const isFromZero = /^0*$/.test(afterLow);
  const isToNine = /^9*$/.test(afterHigh);
  const from = isFromZero ? a : a + 1;
  const to = isToNine ? b : b - 1;
  return oneOf([
    isFromZero ? null : `${a}${sameLength(afterLow, '9'.repeat(rest))}`,
    from > to ? null : `${digitRange(from, to)}${repeated(rest)}`,
    isToNine ? null : `${b}${sameLength('0'.repeat(rest), afterHigh)}`,
  ])!;
}

/** Numbers in a range, as a regular expression; null if there is none. */
export function numberPattern({ min, max }: NumberRange): string | null {
  if (min && max) {
    const order = compare(min.value, max.value);
    if (order > 0 || (order === 0 && (min.isExclusive || max.isExclusive))) return null;
  }
  const zero = { units: 0n, places: 0 };
  const isBelow = (bound: Bound | null) => bound !== null && bound.value.units < 0n;
  const mirrored = (bound: Bound): Bound => ({ value: negated(bound.value), isExclusive: bound.isExclusive });
  const negative =
    !min || isBelow(min)
      ? magnitudePattern(
          max && isBelow(max) ? mirrored(max) : { value: zero, isExclusive: true },
          min && mirrored(min),
        )
      : null;
  const positive = isBelow(max)
    ? null
    : magnitudePattern(min && !isBelow(min) ? min : { value: zero, isExclusive: false }, max);
  return oneOf([negative === null ? null : `-${negative}`, positive]);
}

const negated = ({ units, places }: Decimal): Decimal => ({ units: -units, places });

/** Numbers that are not negative, between bounds of which the lower one is not negative. */
function magnitudePattern(min: Bound, max: Bound | null): string | null {
  const low = digitsOf(min.value);
  const whole = BigInt(low.whole);
  const atLow = (rest: string | null) => (rest === null ? null : `${low.whole}${rest}`);
  if (!max) {
    return oneOf([
      atLow(fractionFrom(low.fraction, min.isExclusive)),
      `${wholePattern(whole + 1n, null)!}${FRACTION}`,
    ]);
  }
  const high = digitsOf(max.value);
  const top = BigInt(high.whole);
  if (whole > top) return null;
  if (whole === top) {
    return atLow(fractionBetween(low.fraction, min.isExclusive, high.fraction, max.isExclusive));
  }
  const inner = wholePattern(whole + 1n, top - 1n);
  const upTo = fractionUpTo(high.fraction, max.isExclusive);
  return oneOf([
    atLow(fractionFrom(low.fraction, min.isExclusive)),
    inner === null ? null : `${inner}${FRACTION}`,
    upTo === null ? null : `${high.whole}${upTo}`,
  ]);
}

/** Behind a whole number: the point and digits that are worth at least `least` (the digits behind its point). */
function fractionFrom(least: string, isExclusive: boolean): string {
  if (least === '') return isExclusive ? `\\.${ABOVE_ZERO}` : FRACTION;
  return `\\.${digitsFrom(least, isExclusive)}`;
}

function digitsFrom(least: string, isExclusive: boolean): string {
  if (least === '') return isExclusive ? ABOVE_ZERO : DIGITS;
  const first = Number(least[0]);
  return oneOf([
    first === 9 ? null : `${digitRange(first + 1, 9)}${DIGITS}`,
    `${first}${digitsFrom(least.slice(1), isExclusive)}`,
  ])!;
}

function fractionUpTo(most: string, isExclusive: boolean): string | null {
  if (most === '') return isExclusive ? null : '(?:\\.0+)?';
  return `(?:\\.${digitsUpTo(most, isExclusive)})?`;
}

function digitsUpTo(most: string, isExclusive: boolean): string | null {
  const first = Number(most[0]);
  return oneOf([
    first === 0 ? null : `${digitRange(0, first - 1)}${DIGITS}`,
    afterLast(most, isExclusive, String(first)),
  ]);
}

/** The way along the upper bound itself; what stops early is below it. */
function afterLast(most: string, isExclusive: boolean, first: string): string | null {
  const rest = most.slice(1);
  if (rest === '') return isExclusive ? null : `${first}0*`;
  const more = digitsUpTo(rest, isExclusive);
  return more === null ? first : `${first}(?:${more})?`;
}

function fractionBetween(low: string, isAbove: boolean, high: string, isBelow: boolean): string | null {
  const allowsZero = low === '' && !isAbove && (high !== '' || !isBelow);
  const digits = digitsBetween(low, isAbove, high, isBelow);
  if (digits === null) return allowsZero ? '' : null;
  return allowsZero ? `(?:\\.${digits})?` : `\\.${digits}`;
}

/** At least one digit. */
function digitsBetween(low: string, isAbove: boolean, high: string, isBelow: boolean): string | null {
  if (low === '' && !isAbove) return high === '' ? (isBelow ? null : '0+') : digitsUpTo(high, isBelow);
  if (high === '') return null;
  const [a, b] = [Number(low[0] ?? 0), Number(high[0])];
  if (a > b) return null;
  const [afterLow, afterHigh] = [low.slice(1), high.slice(1)];
  if (a === b) {
    const allowsEnd = afterLow === '' && !isAbove && (afterHigh !== '' || !isBelow);
    const more = digitsBetween(afterLow, isAbove, afterHigh, isBelow);
    if (more === null) return allowsEnd ? String(a) : null;
    return allowsEnd ? `${a}(?:${more})?` : `${a}${more}`;
  }
  return oneOf([
    `${a}${digitsFrom(afterLow, isAbove)}`,
    b - a > 1 ? `${digitRange(a + 1, b - 1)}${DIGITS}` : null,
    afterLast(high, isBelow, String(b)),
  ]);
}

/** Multiples that are spelled one by one. */
const MOST_MULTIPLES = 1000;
/** The largest number whose multiples are told by the rest of dividing by it. */
const LARGEST_DIVISOR = 200n;

/**
 * Rules for the multiples of a number in a range.
 *
 * @param define adds a rule
 * @returns an expression; null if nothing is left; undefined if the multiples can't be told by their digits
 */
export function multiplesExpression(
  range: NumberRange,
  step: number,
  isInteger: boolean,
  define: (body: (self: (rest: bigint) => string) => string, rests: bigint) => string,
): string | null | undefined {
  const unit = decimalOf(step);
  const listed = range.min && range.max ? listMultiples(range as { min: Bound; max: Bound }, unit) : null;
  if (listed) {
    const values = isInteger ? listed.filter(({ places }) => places === 0) : listed;
    return values.length === 0 ? null : values.map((value) => `"${spelled(value)}"`).join(' | ');
  }
  const isUnbounded = !range.min && !range.max;
  if (isUnbounded && unit.places === 0 && unit.units <= LARGEST_DIVISOR) {
    return define((self) => `"-"? ${self(0n)}`, unit.units);
  }
  if (isUnbounded && !isInteger && unit.units === 1n) {
    return unit.places === 0 ? ANY_INTEGER : `"-"? ("0" | [1-9] [0-9]*) ("." [0-9]{1,${unit.places}})?`;
  }
  return undefined;
}

function listMultiples({ min, max }: { min: Bound; max: Bound }, unit: Decimal): Decimal[] | null {
  const quotient = (bound: Bound, sign: bigint): bigint => {
    const [value, step] = aligned(bound.value, unit);
    const up = ceiling({ value: { units: sign * value, places: 0 }, isExclusive: false });
    const floor = up / step - (up % step < 0n ? 1n : 0n);
    const least = up % step === 0n && !bound.isExclusive ? floor : floor + 1n;
    return sign * least;
  };
  const [first, last] = [quotient(min, 1n), quotient(max, -1n)];
  if (last - first >= MOST_MULTIPLES) return null;
  const values: Decimal[] = [];
  for (let factor = first; factor <= last; factor++) {
    values.push(normalized({ units: factor * unit.units, places: unit.places }));
  }
  return values;
}

function normalized({ units, places }: Decimal): Decimal {
  let [left, behind] = [units, places];
  while (behind > 0 && left % 10n === 0n) {
    left /= 10n;
    behind--;
  }
  return { units: left, places: behind };
}

function spelled({ units, places }: Decimal): string {
  const { whole, fraction } = digitsOf({ units: units < 0n ? -units : units, places });
  return `${units < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
