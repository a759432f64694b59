/** What this device can run, as far as a page can know. */
export interface DeviceAbilities {
  /** `null`: the browser has no WebGPU, or no adapter. */
  adapter: string | null;
  isSoftware: boolean;
  shaderF16: boolean;
  /** Bytes of the largest buffer; weights lie in one for each tensor. */
  maxBuffer: number;
  /** Bytes; at least as much as the browser says, which rounds and caps it. `null`: it does not say. */
  memory: number | null;
  isolated: boolean;
}

export async function deviceAbilities(): Promise<DeviceAbilities> {
  const memory = (navigator as { deviceMemory?: number }).deviceMemory;
  const adapter = await (navigator.gpu?.requestAdapter() ?? null);
  const { vendor = '', architecture = '', description = '' } = adapter?.info ?? {};
  return {
    adapter: adapter && (description || [vendor, architecture].filter(Boolean).join(' ') || 'not named'),
    isSoftware: /swiftshader|llvmpipe|software/i.test(`${vendor} ${architecture} ${description}`),
    shaderF16: adapter?.features.has('shader-f16') ?? false,
    maxBuffer: adapter?.limits.maxBufferSize ?? 0,
    memory: memory === undefined ? null : memory * 2 ** 30,
    isolated: globalThis.crossOriginIsolated,
  };
}

/** Whether a model of so many bytes is likely to run, in a sentence. */
export function verdict(device: DeviceAbilities, bytes: number): { fits: boolean; text: string } {
  // Weights, KV cache and what the runtime needs beside them.
  if (device.memory !== null && device.memory < 2 * bytes) {
    return { fits: false, text: 'Probably too large for the memory of this device.' };
  }
  if (device.adapter === null) return { fits: false, text: 'Slow: this browser has no WebGPU adapter.' };
  if (device.isSoftware) return { fits: false, text: 'Slow: the adapter is a software one.' };
  return {
    fits: true,
    text: device.shaderF16
      ? 'Fits, with half precision (shader-f16).'
      : 'Fits, without half precision (no shader-f16).',
  };
}
