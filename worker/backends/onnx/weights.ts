import { ModelLoadError } from '../../../src/errors.ts';
import type { Dtype } from '../../../src/protocol.ts';
import type { ModelFiles } from '../../cache/files.ts';
import { editModel, type GraphEdits } from './edits.ts';
import { checkTensor, checkWeights, type Room } from './room.ts';

type NamedDtype = Exclude<Dtype, 'auto'>;

/** The Hub's convention: `onnx/model` + suffix + `.onnx`. */
const suffixes: Record<NamedDtype, string> = {
  fp32: '',
  fp16: '_fp16',
  q8: '_quantized',
  int8: '_int8',
  uint8: '_uint8',
  q4: '_q4',
  q4f16: '_q4f16',
  bnb4: '_bnb4',
};

const fileOf = (dtype: NamedDtype) => `onnx/model${suffixes[dtype]}.onnx`;

/** A model's weights, ready for a session. */
export interface Weights {
  dtype: NamedDtype;
  file: string;
  /** The model file after `edits`. */
  model: Uint8Array<ArrayBuffer>;
  edits: GraphEdits;
  /** Weights outside of the model file, by the name that it has for them. */
  external: { path: string; data: Uint8Array<ArrayBuffer> }[];
}

/**
 * Downloads the weights in the format asked for; with `auto`, in the best one that the device can run and
 * the model has.
 *
 * @param hasF16 whether shaders can use 16-bit floats; `null` on WASM
 * @param room what is sure not to fit is not downloaded where its size is known, and not run where not
 * @throws ModelLoadError when there is no such file, the device can't run the format, or it has no room for the weights
 */
export async function loadWeights(
  files: ModelFiles,
  dtype: Dtype,
  hasF16: boolean | null,
  room: Room,
): Promise<Weights> {
  if (hasF16 === false && (dtype === 'fp16' || dtype === 'q4f16')) {
    throw new ModelLoadError(
      `dtype '${dtype}' needs a GPU with the WebGPU feature shader-f16, which this adapter lacks: use dtype 'q4' or 'auto'.`,
      { code: 'dtype_unsupported' },
    );
  }
  const wanted: NamedDtype[] = dtype === 'auto' ? preference(hasF16) : [dtype];
  const sizes = await files.sizes();
  if (sizes) checkSizes(files.origin, wanted, sizes, hasF16, room);
  const found = await files.firstOf(wanted.map(fileOf));
  if (!found) {
    throw new ModelLoadError(
      `${files.origin} has none of ${wanted.map(fileOf).join(', ')}: it is no ONNX export for transformers.js, or another dtype must be chosen.`,
      { code: 'file_not_found' },
    );
  }
  const { largest, ...edited } = editModel(found.bytes);
  if (largest) checkTensor(`${files.origin}: ${found.name}`, largest, room);
  const external = await Promise.all(
    externalNames(found.bytes).map(async (path) => ({ path, data: await files.bytes(`onnx/${path}`) })),
  );
  const chosen = wanted.find((candidate) => fileOf(candidate) === found.name)!;
  return { dtype: chosen, file: found.name, ...edited, external };
}

/** Refuses the weights that would be chosen of the files listed, where they are sure not to fit. */
function checkSizes(
  origin: string,
  wanted: readonly NamedDtype[],
  sizes: ReadonlyMap<string, number>,
  hasF16: boolean | null,
  room: Room,
): void {
  const needsF16 = ['fp16', 'q4f16'];
  const offers = (Object.keys(suffixes) as NamedDtype[])
    .filter((dtype) => sizes.has(fileOf(dtype)))
    .map((dtype) => ({ dtype, bytes: bytesOf(fileOf(dtype), sizes) }));
  const chosen = wanted.map((dtype) => offers.find((offer) => offer.dtype === dtype)).find(Boolean);
  if (!chosen) return;
  const others = offers.filter(({ dtype }) => hasF16 === true || !needsF16.includes(dtype));
  checkWeights(origin, chosen, others, room);
}

/** Of a model file and the data outside of it: `model_q4.onnx_data`, `model_q4.onnx_data_1`, … */
function bytesOf(file: string, sizes: ReadonlyMap<string, number>): number {
  let bytes = 0;
  for (const [name, size] of sizes) {
    if (name === file || /^_data(_\d+)?$/.test(name.startsWith(file) ? name.slice(file.length) : ''))
      bytes += size;
  }
  return bytes;
}

function preference(hasF16: boolean | null): NamedDtype[] {
  if (hasF16 === true) return ['q4f16', 'q4', 'fp16', 'fp32'];
  if (hasF16 === false) return ['q4', 'fp32'];
  return ['q4', 'q8', 'fp32'];
}

const marker = new TextEncoder().encode('.onnx_data');

/** Names of external data files (`model_q4.onnx_data`, `model_q4.onnx_data_1`, …) that a model file mentions. */
export function externalNames(model: Uint8Array): string[] {
  const names = new Set<string>();
  const isNameByte = (byte: number | undefined) =>
    byte !== undefined && /[\w.-]/.test(String.fromCharCode(byte));
  const isDigit = (byte: number | undefined) => byte !== undefined && byte >= 0x30 && byte <= 0x39;
  for (let at = indexOfMarker(model, 0); at >= 0; at = indexOfMarker(model, at + 1)) {
    let start = at;
    while (isNameByte(model[start - 1])) start--;
    let end = at + marker.length;
    if (model[end] === 0x5f && isDigit(model[end + 1])) {
      end++;
      while (isDigit(model[end])) end++;
    }
    if (start < at) names.add(new TextDecoder().decode(model.subarray(start, end)));
  }
  return [...names];
}

/** Looks only at every tenth byte where none of the marker's is there (Horspool): files can be gigabytes. */
function indexOfMarker(bytes: Uint8Array, from: number): number {
  const { length } = marker;
  const shift = new Uint8Array(256).fill(length);
  for (let index = 0; index < length - 1; index++) shift[marker[index]!] = length - 1 - index;
  for (let at = from; at + length <= bytes.length; at += shift[bytes[at + length - 1]!]!) {
    let index = length - 1;
    while (index >= 0 && bytes[at + index] === marker[index]) index--;
    if (index < 0) return at;
  }
  return -1;
}
