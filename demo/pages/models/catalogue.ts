/** Models of the Hub that are known to fit a browser, for the picker. Any other can be named by its id. */
export interface CatalogueModel {
  id: string;
  /** Parameters, as people say it. */
  size: string;
  /** About how much is downloaded and held in memory with 4-bit weights, in bytes. */
  bytes: number;
  licence: string;
  note: string;
}

export const catalogue: CatalogueModel[] = [
  {
    id: 'onnx-community/Qwen3-0.6B-ONNX',
    size: '0.6 B',
    bytes: 570e6,
    licence: 'Apache-2.0',
    note: 'Thinks, and calls tools.',
  },
  {
    id: 'onnx-community/Qwen3-1.7B-ONNX',
    size: '1.7 B',
    bytes: 1.4e9,
    licence: 'Apache-2.0',
    note: 'Thinks, and calls tools more reliably.',
  },
];
