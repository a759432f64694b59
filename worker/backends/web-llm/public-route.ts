import type { Logits } from '../backend.ts';
import type { LogitProcessor, WebLlmEngine } from './library.ts';
import { noLogits, type Route } from './route.ts';

/** Takes the rows that web-llm downloads for its processor. */
export class RowTap implements LogitProcessor {
  #row: Float32Array | null = null;

  processLogits(logits: Float32Array): Float32Array {
    this.#row = Float32Array.from(logits);
    // What web-llm draws is thrown away; from equal logits it can always draw.
    return logits.fill(0);
  }

  processSampledToken(): void {}

  resetState(): void {}

  /** The row of the last pass, once. */
  take(): Float32Array {
    const row = this.#row;
    this.#row = null;
    if (!row) throw new Error('web-llm ran a pass without showing its logits to the processor.');
    return row;
  }
}

/**
 * By `forwardTokensAndSample` and a logit processor, which web-llm has had in public for long: whole rows go to memory
 * and back, and web-llm draws a token that nobody asked for.
 */
export class PublicRoute implements Route {
  readonly width: number;
  readonly piece = 512;
  readonly sampler = null;
  readonly #engine: WebLlmEngine;
  readonly #modelId: string;
  readonly #tap: RowTap;

  constructor(engine: WebLlmEngine, modelId: string, tap: RowTap, width: number) {
    this.#engine = engine;
    this.#modelId = modelId;
    this.#tap = tap;
    this.width = width;
  }

  async forward(ids: readonly number[], rows: number): Promise<Logits> {
    await this.#engine.forwardTokensAndSample([...ids], ids.length > 1, this.#modelId);
    const row = this.#tap.take();
    if (rows === 0) return noLogits(this.width);
    return { rows: 1, width: this.width, onGpu: () => null, read: async () => row, release: () => {} };
  }

  async reset(): Promise<void> {
    await this.#engine.resetChat(false, this.#modelId);
  }
}
