/** Numbers as JSON writes them, exactly: `units` of ten to the power of `-places`. */
export interface Decimal {
  units: bigint;
  places: number;
}

/** The shortest decimal that is this number; without needless places. */
export function decimalOf(value: number): Decimal {
  const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(
    String(value),
  )!;
  let units = BigInt(whole! + fraction);
  let places = fraction.length - Number(exponent);
  if (places < 0) {
    units *= 10n ** BigInt(-places);
    places = 0;
  }
  while (places > 0 && units % 10n === 0n) {
    units /= 10n;
    places--;
  }
  return { units: sign === '-' ? -units : units, places };
}

/** Both in the same units. */
export function aligned(a: Decimal, b: Decimal): [bigint, bigint] {
  const places = Math.max(a.places, b.places);
  return [a.units * 10n ** BigInt(places - a.places), b.units * 10n ** BigInt(places - b.places)];
}

export function compare(a: Decimal, b: Decimal): number {
  const [left, right] = aligned(a, b);
  return left < right ? -1 : left > right ? 1 : 0;
}

export function isMultiple(value: number, of: number): boolean {
  const [units, step] = aligned(decimalOf(value), decimalOf(of));
  return units % step === 0n;
}

/** Digits before and behind the point of a number that is not negative. */
export function digitsOf({ units, places }: Decimal): { whole: string; fraction: string } {
  const digits = String(units).padStart(places + 1, '0');
  const point = digits.length - places;
  return { whole: digits.slice(0, point), fraction: digits.slice(point) };
}
