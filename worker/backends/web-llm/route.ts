import type { Logits, RuntimeSampler } from '../backend.ts';

/** A way to run the model's forward pass through web-llm. One KV cache, one call at a time. */
export interface Route {
  /** Values of one row of logits. */
  readonly width: number;
  /** The most tokens worth feeding at once. */
  readonly piece: number;
  /** web-llm's own; `null` where rows are read. */
  readonly sampler: RuntimeSampler | null;
  /** Appends tokens to the KV cache. Keeps the logits of the last one, or with `rows` 0 none. */
  forward(ids: readonly number[], rows: number): Promise<Logits>;
  /** Empties the KV cache. */
  reset(): Promise<void>;
}

/** Of a pass whose logits nobody reads. */
export const noLogits = (width: number): Logits => ({
  rows: 0,
  width,
  onGpu: () => null,
  read: async () => {
    throw new Error('This pass kept no logits.');
  },
  release: () => {},
});
