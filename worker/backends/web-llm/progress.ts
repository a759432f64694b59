import type { LoadProgress } from '../../../src/protocol.ts';
import type { ProgressReport } from './library.ts';

/** Stands for all weight files: progress is told of them together. */
const weightsFile = 'params';

/**
 * Takes web-llm's progress and tells it as this package does. Its phases are told apart by their text alone, and each
 * runs from 0 to 1, a step a file.
 *
 * @param bytes of all weights; 0 where nobody knows
 */
export function progressTeller(
  bytes: number,
  onProgress: (progress: LoadProgress) => void,
): (report: ProgressReport) => void {
  let isDownloading = false;
  const download = (loaded: number) =>
    onProgress({ phase: 'download', file: weightsFile, loaded, total: bytes });
  const step = (phase: 'session' | 'warmup') => {
    // Files that were kept are not told of.
    if (isDownloading) download(bytes);
    isDownloading = false;
    onProgress({ phase, file: null, loaded: 0, total: 0 });
  };
  return ({ progress, text }) => {
    if (text.startsWith('Loading GPU shader')) step('warmup');
    else if (text.startsWith('Loading model from cache')) step('session');
    else if (/^(Start to fetch|Fetching)/.test(text)) {
      isDownloading = true;
      download(Math.round(Math.min(1, Math.max(0, progress)) * bytes));
    }
  };
}

/** Bytes of the weights that a `tensor-cache.json` lists; 0 where it lists none. */
export function weightBytes(manifest: Record<string, unknown> | null): number {
  const records = Array.isArray(manifest?.records) ? (manifest.records as { nbytes?: unknown }[]) : [];
  return records.reduce((sum, { nbytes }) => sum + (typeof nbytes === 'number' ? nbytes : 0), 0);
}
