import { Copies, longestMatch } from './copies.ts';
import { CopyDrafter, type Costs, type Drafter } from './drafter.ts';
import { HitRates } from './hit-rates.ts';
import { PassCosts } from './pass-costs.ts';

/** Tokens of earlier answers that are kept: templates drop reasoning from later prompts, and models repeat themselves. */
const mostRemembered = 8192;

/** What is known across the requests of one model. */
export class Drafts {
  readonly costs: Costs;
  readonly #rates = new HitRates();
  /** Answers, the latest last. */
  readonly #answers: (readonly number[])[] = [];
  #remembered = 0;

  /** @param costs of passes; for tests and measurements, other than measured ones */
  constructor(costs: Costs = new PassCosts()) {
    this.costs = costs;
  }

  /** Follows one choice that answers `prompt`. */
  follow(prompt: Iterable<number>): Drafter {
    const copies = new Copies();
    for (const answer of this.#answers) {
      for (const id of answer) copies.add(id);
      copies.separate();
    }
    for (const id of prompt) copies.add(id);
    return new CopyDrafter(copies, this.#rates, this.costs);
  }

  /** Keeps an answer for later ones, with the end of its prompt, behind which it began. */
  remember(prompt: Uint32Array, answer: readonly number[]): void {
    if (answer.length === 0 || answer.length > mostRemembered) return;
    const text = [...prompt.subarray(-longestMatch), ...answer];
    this.#answers.push(text);
    this.#remembered += text.length;
    while (this.#remembered > mostRemembered && this.#answers.length > 1) {
      this.#remembered -= this.#answers.shift()!.length;
    }
  }
}
