import { DeviceLostError, WebGPUUnavailableError } from '../../../src/errors.ts';
import type { DeviceReport } from '../../../src/protocol.ts';
import type { GpuMemory } from '../backend.ts';
import { webGpuAdvice } from './webgpu-advice.ts';

export type AdapterReport = NonNullable<DeviceReport['adapter']>;

/** An adapter, or why there is none, and what to do about it in the browser at hand. */
export type AdapterResult =
  | { adapter: GPUAdapter; report: AdapterReport; missing: null }
  | { adapter: null; report: null; missing: string; advice: string };

const softwareNames = /swiftshader|llvmpipe|lavapipe|softpipe|microsoft basic render|\bwarp\b/i;

/** Asks the browser for a WebGPU adapter. */
export async function findAdapter(): Promise<AdapterResult> {
  const { gpu, userAgent = '' } = (globalThis.navigator ?? {}) as { gpu?: GPU; userAgent?: string };
  const none = (missing: string, advice: string): AdapterResult => ({
    adapter: null,
    report: null,
    missing,
    advice,
  });
  if (!gpu) {
    return globalThis.isSecureContext === false
      ? none('WebGPU needs a secure context', 'Serve the page over https or from localhost.')
      : none('this browser has no WebGPU', webGpuAdvice(userAgent, 'interface'));
  }
  let adapter: GPUAdapter | null;
  try {
    adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : cause;
    return none(`the browser refused a WebGPU adapter (${why})`, webGpuAdvice(userAgent, 'adapter'));
  }
  if (!adapter) {
    const missing = 'the browser has WebGPU, but no adapter for this machine';
    return none(missing, webGpuAdvice(userAgent, 'adapter'));
  }
  const { info } = adapter;
  const names = [info.vendor, info.architecture, info.device, info.description].join(' ');
  return {
    adapter,
    report: {
      vendor: info.vendor,
      architecture: info.architecture,
      device: info.device,
      description: info.description,
      isSoftware: info.isFallbackAdapter === true || softwareNames.test(names),
      features: [...adapter.features].sort(),
    },
    missing: null,
  };
}

/** Limits that kernels and large weights need; a device has only the defaults of those it does not ask for. */
const limitNames = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxStorageBuffersPerShaderStage',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupSizeY',
  'maxComputeWorkgroupSizeZ',
  'maxComputeWorkgroupsPerDimension',
  'maxBindGroups',
  'maxBindingsPerBindGroup',
] as const satisfies readonly (keyof GPUSupportedLimits)[];

/** Below 8, ONNX Runtime's prefill attention is wrong: adapters with 4 lanes gave silently wrong logits. */
export const minimumSubgroupSize = 8;

/** A device of our own, with what is allocated on it and a promise of its loss. */
export interface OwnDevice {
  device: GPUDevice;
  hasSubgroups: boolean;
  memory(): GpuMemory;
  /** Resolves when the device goes without `destroy` having been called; never otherwise. */
  lost: Promise<DeviceLostError>;
  /** Resolves when the device is of no more use: lost, or {@link trust}ed and at fault. */
  fault: Promise<DeviceLostError>;
  /**
   * From now on an error that the device reports is a fault: the command that it concerns was dropped, and nothing else
   * tells. Before, a self-test looks at what was computed.
   */
  trust(): void;
  /** The intended end. */
  destroy(): void;
}

/**
 * Opens a device with the adapter's limits and the features that kernels can use.
 *
 * @param subgroupsFrom lanes from which on subgroups are used; `Infinity` leaves them out
 */
export async function openDevice(adapter: GPUAdapter, subgroupsFrom: number): Promise<OwnDevice> {
  const requiredFeatures: GPUFeatureName[] = [];
  if (adapter.features.has('shader-f16')) requiredFeatures.push('shader-f16');
  const subgroupSize = adapter.info.subgroupMinSize ?? 0;
  const hasSubgroups = adapter.features.has('subgroups') && subgroupSize >= subgroupsFrom;
  if (hasSubgroups) requiredFeatures.push('subgroups');
  const requiredLimits: Record<string, number> = {};
  for (const name of limitNames) {
    const value = adapter.limits[name];
    if (typeof value === 'number') requiredLimits[name] = value;
  }
  let device: GPUDevice;
  try {
    device = await adapter.requestDevice({ requiredFeatures, requiredLimits });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WebGPUUnavailableError(`The WebGPU adapter gives no device: ${reason}`, { cause });
  }
  const memory = countBuffers(device);
  let isIntended = false;
  const lost = new Promise<DeviceLostError>((resolve) => {
    void device.lost.then((info) => {
      if (isIntended) return;
      const detail = info.message ? `: ${info.message.replace(/\.$/, '')}` : '';
      resolve(
        new DeviceLostError(
          `The GPU device was lost (${info.reason})${detail}. If this repeats, the model may need more memory than the GPU has.`,
        ),
      );
    });
  });
  let isTrusted = false;
  const fault = new Promise<DeviceLostError>((resolve) => {
    void lost.then(resolve);
    device.addEventListener('uncapturederror', ({ error }) => {
      if (isTrusted && !isIntended) resolve(faultOf(error));
    });
  });
  return {
    device,
    hasSubgroups,
    memory,
    lost,
    fault,
    trust: () => {
      isTrusted = true;
    },
    destroy: () => {
      isIntended = true;
      device.destroy();
    },
  };
}

function faultOf(error: GPUError): DeviceLostError {
  const { message } = error;
  return error instanceof GPUOutOfMemoryError
    ? new DeviceLostError(
        `The GPU is out of memory (${message}): the device is given up. If this repeats, the model needs more memory than the GPU has.`,
        { code: 'gpu_out_of_memory' },
      )
    : new DeviceLostError(
        `The GPU reports an error (${message}): what it computes can't be trusted, and the device is given up.`,
        { code: 'gpu_error' },
      );
}

/** Counts what is alive on a device. WebGPU does not say, and a leak shows nowhere else. */
export function countBuffers(device: GPUDevice): () => GpuMemory {
  const live = { buffers: 0, bytes: 0 };
  const createBuffer = device.createBuffer.bind(device);
  device.createBuffer = (descriptor) => {
    const buffer = createBuffer(descriptor);
    const { size } = descriptor;
    live.buffers++;
    live.bytes += size;
    const destroy = buffer.destroy.bind(buffer);
    let isDestroyed = false;
    buffer.destroy = () => {
      if (!isDestroyed) {
        isDestroyed = true;
        live.buffers--;
        live.bytes -= size;
      }
      return destroy();
    };
    return buffer;
  };
  return () => ({ ...live });
}
