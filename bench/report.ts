/** What a benchmark reports: rows of one table, and what a reader must know to use them. */
export interface Report {
  title: string;
  rows: Record<string, string | number>[];
  notes: string[];
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};

/** As many digits as a measurement is worth. */
export const rounded = (value: number): number => Number(value.toPrecision(value < 100 ? 2 : 3));

/** The number behind an option such as `--rounds 3`. */
export function numberOption(options: readonly string[], name: string, otherwise: number): number {
  const at = options.indexOf(name);
  if (at < 0) return otherwise;
  const value = Number(options[at + 1]);
  if (!(value > 0)) throw new Error(`${name} needs a number above 0.`);
  return value;
}
