import { ModelLoadError } from '../../../src/errors.ts';

/** What bounds a model's weights where they are to run, in bytes; `Infinity` where nothing is known. */
export interface Room {
  /** Of all of them together. */
  weights: number;
  /** What bounds them, for people. */
  because: string;
  /** Of a single tensor, which lies in a buffer of its own. */
  tensor: number;
}

/** Addresses have 32 bits, and weights lie in the runtime's memory. */
const wasmMemory = 2 ** 32;

/** GiB from which on browsers tell no more, whatever a device has. */
const mostMemoryTold = 8;

/**
 * Bounds by which a model is refused: what is sure not to fit, and nothing else, for how much a GPU has free no browser
 * tells. The size of a binding bounds no weights, as the runtime binds a large buffer in parts; it bounds the context.
 *
 * @param adapter `null`: on WASM
 * @param navigator the worker's
 */
export function roomFor(
  adapter: { limits: Pick<GPUSupportedLimits, 'maxBufferSize'> } | null,
  navigator: unknown = globalThis.navigator,
): Room {
  const told = memoryTold(navigator);
  const tensor = adapter?.limits.maxBufferSize ?? Infinity;
  // As the downloaded files, and in the runtime's memory or a GPU's, which is the same memory in small devices. What
  // is told is rounded to a power of two: there may be half as much again.
  const inMemory = told === null ? Infinity : (told * 1.5 * 2 ** 30) / 2;
  if (adapter === null && wasmMemory < inMemory) {
    return { weights: wasmMemory, because: 'WebAssembly has 4.3 GB of memory', tensor };
  }
  const because = `this device has about ${told} GiB of memory, and weights are in it twice while they load`;
  return { weights: inMemory, because, tensor };
}

/** GiB of a device that has less than what browsers tell at most; `null` where that is not known. */
function memoryTold(navigator: unknown): number | null {
  const { deviceMemory, userAgentData } = (navigator ?? {}) as {
    deviceMemory?: number;
    userAgentData?: { brands?: { brand: string }[] };
  };
  // Brave tells a number that it has made up.
  const isMadeUp = userAgentData?.brands?.some(({ brand }) => brand === 'Brave') ?? false;
  return deviceMemory === undefined || deviceMemory >= mostMemoryTold || isMadeUp ? null : deviceMemory;
}

/** Weights of one kind that a model has. */
export interface WeightsOnOffer<Dtype extends string> {
  dtype: Dtype;
  bytes: number;
}

/**
 * Refuses weights that are sure not to fit, before they are downloaded.
 *
 * @param origin for people: where the model is
 * @param others what else of it the device can run
 * @throws ModelLoadError with the code `model_too_large`
 */
export function checkWeights<Dtype extends string>(
  origin: string,
  { dtype, bytes }: WeightsOnOffer<Dtype>,
  others: readonly WeightsOnOffer<Dtype>[],
  room: Room,
): void {
  if (bytes <= room.weights) return;
  const fitting = others.filter((other) => other.bytes <= room.weights).sort((a, b) => a.bytes - b.bytes)[0];
  const advice = fitting
    ? `Use dtype '${fitting.dtype}', whose weights take ${gigabytes(fitting.bytes)}, or a smaller model.`
    : 'Use a smaller model.';
  throw new ModelLoadError(
    `${origin} is too large: its weights of dtype '${dtype}' take ${gigabytes(bytes)}, and at most ` +
      `${gigabytes(room.weights)} fit, because ${room.because}. ${advice}`,
    { code: 'model_too_large', bytes: { needed: bytes, available: room.weights } },
  );
}

/**
 * Refuses a model with a tensor that no buffer of the GPU can hold.
 *
 * @throws ModelLoadError with the code `model_too_large`
 */
export function checkTensor(
  file: string,
  { name, bytes }: { name: string; bytes: number },
  room: Room,
): void {
  if (bytes <= room.tensor) return;
  throw new ModelLoadError(
    `${file} is too large for this GPU: its tensor ${name} takes ${gigabytes(bytes)}, and a buffer holds at most ` +
      `${gigabytes(room.tensor)} (maxBufferSize). Use weights with fewer bits (dtype), a smaller model, or device 'wasm'.`,
    { code: 'model_too_large', bytes: { needed: bytes, available: room.tensor } },
  );
}

function gigabytes(bytes: number): string {
  return bytes < 1e8 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}
