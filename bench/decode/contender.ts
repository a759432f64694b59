import type { Dtype } from '../../src/protocol.ts';
import type { Calls } from './counters.ts';

export interface DecodeModel {
  /** Address of the model's folder on this server, with a slash at the end. */
  folder: string;
  dtype: Exclude<Dtype, 'auto'>;
  contextLength: number;
  /** Whether ours choose tokens on the GPU. */
  gpuSampling: boolean;
}

export interface DecodeRun {
  ids: number[];
  /** Milliseconds between tokens, the first one left out. */
  waits: number[];
  calls: Calls;
  /** Milliseconds in `forward` beside waiting for the device: only ours. */
  encode: number[];
}

/** A loaded model in the hands of one who writes with it. */
export interface Loaded {
  /** Reads the prompt and writes so many tokens; `topK` 0 is greedy. */
  run(prompt: number[], tokens: number, topK: number): Promise<DecodeRun>;
  /** The same behind all that was read and written so far with this method, greedily. */
  goOn(prompt: number[], tokens: number): Promise<DecodeRun>;
  close(): Promise<void>;
}

export const intervals = (times: readonly number[]) =>
  times.slice(1).map((time, index) => time - times[index]!);
