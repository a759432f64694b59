import { WebGPUUnavailableError } from '../../../src/errors.ts';
import type { DeviceChoice } from '../../../src/protocol.ts';
import { type AdapterReport, findAdapter } from './device.ts';

/** Where the model is to run, and why. `report` is of the adapter that was found, also where it is not used. */
export interface Target {
  adapter: GPUAdapter | null;
  report: AdapterReport | null;
  reason: string;
}

/**
 * Decides between WebGPU and WASM.
 *
 * @throws WebGPUUnavailableError where WebGPU was asked for and there is none
 */
export async function chooseTarget(choice: DeviceChoice): Promise<Target> {
  if (choice === 'wasm') return { adapter: null, report: null, reason: 'WASM was asked for.' };
  const found = await findAdapter();
  if (found.missing !== null) {
    if (choice === 'webgpu') {
      throw new WebGPUUnavailableError(
        `WebGPU was asked for, but ${found.missing}. ${found.advice} Device 'auto' or 'wasm' runs without it.`,
      );
    }
    return { adapter: null, report: null, reason: `WASM, because ${found.missing}.` };
  }
  const { adapter, report } = found;
  if (choice === 'webgpu') return { adapter, report, reason: 'WebGPU was asked for.' };
  if (report.isSoftware) {
    const name = report.description || report.architecture || report.vendor;
    return {
      adapter: null,
      report,
      reason: `WASM, because the only WebGPU adapter (${name}) is a software one, which is far slower.`,
    };
  }
  return { adapter, report, reason: 'WebGPU, because there is a GPU adapter.' };
}
