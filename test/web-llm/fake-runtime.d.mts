export interface FakeModel {
  vocabularySize: number;
  prefillChunkSize?: number;
  files: Record<string, Uint8Array | Error>;
  /** The token that shall follow `tokens`, or a row of logits; with a promise, the device never gets ready. */
  answer(state: {
    tokens: number[];
    generated: number;
    turn: number;
    lose: () => void;
  }): number | Float32Array | Promise<never>;
}

export interface FakeLog {
  passes: number[][];
  masks: Int32Array[];
  rowsRead: number;
  seeds: number[];
  points: number[];
  temperatures: number[];
  topP: number[];
  biases: Record<number, number>[];
  penalties: { ids: number[]; presence: number; frequency: number; repetition: number }[];
  deletedCaches: string[];
  live: number;
  device: { destroy(): void } | null;
}

export function createFakeRuntime(model: FakeModel): { runtime: object; log: FakeLog };
