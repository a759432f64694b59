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
