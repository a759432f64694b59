/**
 * Work on automata that one request may cost. It is counted in steps and not in time, and what is kept from earlier
 * requests is counted as if it were made anew: so the same request is always refused, or never.
 */

/** The request asks for more work on automata than it may. */
export class AllowanceSpentError extends Error {
  constructor() {
    super('the patterns of this request are too much work together: make them shorter, or fewer');
  }
}

interface Allowance {
  left: number;
  /** What has been counted already. */
  readonly known: Set<string>;
}

let allowance: Allowance | null = null;
let total = 0;

/**
 * Runs something that makes automata.
 *
 * @param steps the most that it may cost; each takes a fraction of a microsecond
 * @throws AllowanceSpentError
 */
export function withAllowance<Made>(steps: number, run: () => Made): Made {
  const outer = allowance;
  allowance = { left: steps, known: new Set() };
  try {
    return run();
  } finally {
    allowance = outer;
  }
}

/** Counts steps. */
export function spend(steps: number): void {
  total += steps;
  if (!allowance) return;
  allowance.left -= steps;
  if (allowance.left < 0) throw new AllowanceSpentError();
}

/** Counts what `make` costs, as what `key` costs. */
export function measured<Made>(key: string, make: () => Made): { made: Made; steps: number } {
  const before = total;
  const made = make();
  allowance?.known.add(key);
  return { made, steps: total - before };
}

/** Counts what had been made before, once. */
export function spendAgain(key: string, steps: number): void {
  if (!allowance || allowance.known.has(key)) return;
  allowance.known.add(key);
  spend(steps);
}
