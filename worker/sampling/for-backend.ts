import type { SamplingOptions } from '../../src/protocol.ts';
import type { Backend } from '../backends/backend.ts';
import { DrawnSampler } from './drawn-sampler.ts';
import { GpuSampler } from './gpu/sampler.ts';
import { Sampler } from './sampler.ts';

/** One for each of the places where logits can be: on the GPU, with a runtime, in memory. */
export type AnySampler = GpuSampler | DrawnSampler | Sampler;

/** What the tokens of one choice are chosen by. */
export interface SamplingOfChoice {
  options: SamplingOptions;
  /** Replaces `options.seed`, which may be `null`. */
  seed: number;
  /** Index of the choice: each has its own stream of random numbers. */
  stream: number;
  prompt: ArrayLike<number>;
  bias: ReadonlyMap<number, number> | undefined;
  /** Whether log probabilities are told, which are of rows that no sampler has changed. */
  reads: boolean;
}

/** The sampler that leaves the logits of this backend where they are, if there is one. */
export function samplerFor(
  { reducer, sampler }: Pick<Backend, 'reducer' | 'sampler'>,
  { options, seed, stream, prompt, bias, reads }: SamplingOfChoice,
): AnySampler {
  const given = [options, seed, stream, prompt, bias] as const;
  if (reducer) return new GpuSampler(reducer, ...given);
  return sampler ? new DrawnSampler(sampler, reads, ...given) : new Sampler(...given);
}
