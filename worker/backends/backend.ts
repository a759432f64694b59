/**
 * What a model runtime has to be able to do, and no more. Sampling, prefix reuse, grammar, drafts and the
 * request's life are written once, above it.
 */
import type { DeviceReport } from '../../src/protocol.ts';
import type { GpuRow, RowReducer } from '../sampling/gpu/reducer.ts';

/** Logits of the positions asked for, on the device until somebody reads them. */
export interface Logits {
  /** Positions held; row `rows - 1` belongs to the last token fed. */
  readonly rows: number;
  /** Values a row. At least the tokenizer's vocabulary; often padded beyond it. */
  readonly width: number;
  /** Where one row is on the GPU, for the backend's reducer; `null` where the logits are only in memory. */
  onGpu(row: number): GpuRow | null;
  /** One row, downloaded when needed, before the backend's next forward pass; that may reuse the array: copy to keep. */
  read(row: number): Promise<Float32Array>;
  /** Gives the memory back. Safe to call twice. */
  release(): void;
}

/** How a runtime's own sampler is to draw one token. */
export interface Draw {
  /** Bit `id % 32` of word `id / 32`: whether a token may come; `null` lets all of the vocabulary. */
  mask: Uint32Array | null;
  /** 0 takes the best token. */
  temperature: number;
  topP: number;
  /** Of the logits of `repeated`. Never together with `offsets`. */
  repetitionPenalty: number;
  repeated: ReadonlySet<number>;
  /** Added to the logits of these tokens. */
  offsets: ReadonlyMap<number, number>;
  /** Of its random numbers: from 1 to 2^31 - 2. */
  seed: number;
}

/** A sampler that a runtime brings along, which leaves the logits on the device. */
export interface RuntimeSampler {
  /** Resolves when the device is done with all that it was given. */
  settled(): Promise<void>;
  /** Draws from the last row, and may change it. Throws an `InvalidLogitsError` where no token comes that may. */
  draw(logits: Logits, draw: Draw): Promise<number>;
}

/** The step over a token that the device has chosen itself, begun before anybody has read the token. */
export interface NextStep {
  /** Where the backend's reducer is to write the token. */
  readonly token: GPUBuffer;
  /** Runs the model over it, as `forward` does over one token. Call it when the token is asked for. */
  forward(): Promise<Logits>;
}

/** One KV cache. Not shared between requests; used by one call at a time. */
export interface Sequence {
  /** Tokens whose keys and values are held. */
  readonly length: number;
  /** Memory that its keys and values take, in bytes. */
  readonly bytes: number;
  /**
   * Runs the model over `ids`, appending them. Keeps the logits of the last `rows` positions: 1 for the end of
   * the prefill and for plain decode, more to verify drafts, 0 for the pieces of a prefill before its last,
   * whose logits nobody reads: such a piece resolves when the device is done with it, other calls may resolve
   * before, and reading their logits waits. Throws a `BadRequestError` with code `context_length_exceeded`
   * when `length + ids.length` would pass the capacity or the memory; after any other error the sequence is dead.
   */
  forward(ids: readonly number[], rows?: number): Promise<Logits>;
  /** `null` where it has to know the token, and where its cache would have to grow; unset where that is always so. */
  readonly next?: NextStep | null;
  /** False once another sequence has its memory; unset where each has its own. */
  readonly isAlive?: boolean;
  /** Forgets all but the first `length` tokens. Only where the backend `canTruncate`. */
  truncate(length: number): Promise<void>;
  close(): void;
}

/** Live GPU buffers of one device. */
export interface GpuMemory {
  buffers: number;
  bytes: number;
}

export interface Backend {
  readonly report: DeviceReport;
  /** Tokens that a sequence can hold. */
  readonly capacity: number;
  /** Values of one row of logits. */
  readonly width: number;
  /** False for recurrent and hybrid models, whose state cannot be cut back. */
  readonly canTruncate: boolean;
  /** The most tokens worth feeding in one prefill call; abort and progress are checked in between. */
  readonly prefillPiece: number;
  /** Reduces rows of logits to what a sampler needs of them; `null` where rows are read. Goes with the backend. */
  readonly reducer: RowReducer | null;
  /** The runtime's own sampler; unset or `null` where it has none that keeps the logits on the device. */
  readonly sampler?: RuntimeSampler | null;
  /** Settles with a `DeviceLostError` if the device goes; never settles otherwise. */
  readonly lost: Promise<Error>;
  /** Opens an empty sequence. */
  open(): Promise<Sequence>;
  /**
   * Opens a sequence that holds the first `length` tokens of another. Only where the backend `canTruncate`. Throws
   * a `BadRequestError` with code `context_length_exceeded` where there is no memory for it.
   */
  copy(sequence: Sequence, length: number): Promise<Sequence>;
  /** What is allocated on the GPU now; `null` where nothing is. */
  memory(): GpuMemory | null;
  /** Releases sessions and device. An intended loss is not reported through `lost`. */
  close(): Promise<void>;
}
