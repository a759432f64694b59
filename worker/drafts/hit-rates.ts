import { longestMatch } from './copies.ts';

/** Upper ends of the classes of lengths that are told apart. */
const classes = [1, 2, 3, 4, 6, 8, 12, 16, 24, longestMatch];
/** What is supposed of each class before anything was seen. */
const supposed = [0.2, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9];
/** How much the latest token counts. */
const weight = 1 / 16;

const classOf = Array.from({ length: longestMatch + 1 }, (_, length) =>
  classes.findIndex((end) => length <= end),
);

/**
 * How often a text went on as it did before, by how much of it was the same. Every token tells, also where nothing was
 * drafted: so it is known, at no cost, when drafting begins to pay again.
 */
export class HitRates {
  readonly #rates = [...supposed];

  /** @param length tokens that were the same */
  of(length: number): number {
    return this.#rates[classOf[Math.min(length, longestMatch)]!]!;
  }

  record(length: number, isHit: boolean): void {
    const index = classOf[Math.min(length, longestMatch)]!;
    this.#rates[index]! += weight * ((isHit ? 1 : 0) - this.#rates[index]!);
  }
}
