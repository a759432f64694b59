/** Random choices that a seed repeats. */
export class Random {
  #state: number;

  constructor(seed: string) {
    let hash = 2166136261;
    for (const character of seed) hash = Math.imul(hash ^ character.codePointAt(0)!, 16777619);
    this.#state = hash >>> 0;
    for (let round = 0; round < 8; round++) this.next();
  }

  /** From 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  /** An integer from 0 up to, but not including, `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** An integer between two, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }

  /** Some of the items, in their order, at least `least`. */
  some<Item>(items: readonly Item[], least: number): Item[] {
    const count = this.between(Math.min(least, items.length), items.length);
    const left = items.map((_, index) => index);
    while (left.length > count) left.splice(this.below(left.length), 1);
    return left.map((index) => items[index]!);
  }
}
