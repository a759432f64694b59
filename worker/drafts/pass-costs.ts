/** What an observation still counts after another one. */
const decay = 0.95;
/** What those of several tokens still count after a pass over one: long after the last of them, one is tried again. */
const fading = 0.98;
/** A pass that took longer than this for each millisecond expected had another reason, a compilation or a busy page. */
const mostSurprise = 3;
/** What a measurement counts in an average: less where it is slower, for what disturbs a pass makes it slower. */
const [slowerWeight, fasterWeight] = [0.1, 0.3];
/** How much it counts that a few tokens more are supposed to cost little. */
const suppositionWeight = 0.2;
/** Supposed: passes over so many tokens take so many times as long as over one. */
const suppositions = [
  [2, 1.05],
  [9, 1.4],
] as const;

/**
 * Milliseconds that passes take, by the number of their tokens, as measured lately: one token has a cost of its own
 * (captured graphs serve only it), more of them lie on a line.
 */
export class PassCosts {
  /** Of a pass over one token. */
  #single: number | null = null;
  /** Of a token whose logits are there already. */
  #chosen: number | null = null;
  /** Weighted sums over passes of several tokens: 1, tokens, tokens², time, tokens · time. */
  #sums = [0, 0, 0, 0, 0];

  /** A pass over `tokens` took so long, up to the token that was chosen with it. */
  pass(tokens: number, milliseconds: number): void {
    if (tokens === 1) {
      this.#single = averaged(this.#single, milliseconds);
      for (const index of this.#sums.keys()) this.#sums[index]! *= fading;
      return;
    }
    // Without the cost of one token there is nothing to compare with.
    if (this.#single === null) return;
    const time = Math.min(milliseconds, mostSurprise * this.of(tokens));
    for (const index of this.#sums.keys()) this.#sums[index]! *= decay;
    this.#add(this.#sums, tokens, time, 1);
  }

  /** A token was chosen from logits that an earlier pass had left. */
  chosen(milliseconds: number): void {
    this.#chosen = averaged(this.#chosen, milliseconds);
  }

  /**
   * Milliseconds of a pass over `tokens` and of choosing `chosen` tokens beside the first; in passes over one token
   * before one was measured.
   */
  of(tokens: number, chosen = 0): number {
    if (this.#single === null) return tokens === 1 ? 1 : this.#several(tokens, 1);
    const pass = tokens === 1 ? this.#single : this.#several(tokens, this.#single);
    return pass + chosen * (this.#chosen ?? 0);
  }

  #several(tokens: number, single: number): number {
    const sums = [...this.#sums];
    for (const [count, times] of suppositions) this.#add(sums, count, times * single, suppositionWeight);
    const [weight, x, xx, y, xy] = sums as [number, number, number, number, number];
    const slope = Math.max(0, (weight * xy - x * y) / (weight * xx - x * x));
    return Math.max(single, (y - slope * x) / weight + slope * tokens);
  }

  #add(sums: number[], tokens: number, time: number, weight: number): void {
    for (const [index, value] of [1, tokens, tokens * tokens, time, tokens * time].entries()) {
      sums[index]! += weight * value;
    }
  }
}

function averaged(average: number | null, value: number): number {
  if (average === null) return value;
  if (value < average) return average + fasterWeight * (value - average);
  return average + slowerWeight * (Math.min(value, mostSurprise * average) - average);
}
