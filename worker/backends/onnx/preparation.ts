import type { DeviceChoice, Dtype } from '../../../src/protocol.ts';
import type { ModelFiles } from '../../cache/files.ts';
import { roomFor } from './room.ts';
import { startRuntime } from './runtime.ts';
import { chooseTarget, type Target } from './target.ts';
import { loadWeights, type Weights } from './weights.ts';

/** What a backend begins with, on its way. Failures wait until it is asked for. */
export interface Preparation {
  target: Promise<Target>;
  weights: Promise<Weights>;
  /** The runtime's start. */
  runtime: Promise<void>;
}

/**
 * Begins what needs nothing but the model's name and the device: the weights, which take longest, come while the runtime
 * starts and others read the model's description. After `configureRuntime`.
 */
export function prepareOnnx(files: ModelFiles, device: DeviceChoice, dtype: Dtype): Preparation {
  const target = chooseTarget(device);
  const weights = target.then(({ adapter }) =>
    loadWeights(files, dtype, adapter ? adapter.features.has('shader-f16') : null, roomFor(adapter)),
  );
  const runtime = startRuntime();
  for (const begun of [target, weights, runtime]) begun.catch(() => {});
  return { target, weights, runtime };
}
