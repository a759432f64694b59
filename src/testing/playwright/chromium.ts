/** Which WebGPU adapter a test takes: a GPU where there is one, or always Chromium's software adapter. */
export type TestAdapter = 'any' | 'software';

/**
 * Command-line switches with which a headless Chromium has WebGPU on this platform. A software adapter computes the
 * same on every machine, and slowly.
 */
export function webgpuArguments(adapter: TestAdapter, platform: string): string[] {
  const unsafe = '--enable-unsafe-webgpu';
  if (adapter === 'software') return [unsafe, '--use-webgpu-adapter=swiftshader'];
  // Metal and Direct3D 12 are there by default.
  return platform === 'linux' ? [unsafe, '--enable-features=Vulkan', '--ignore-gpu-blocklist'] : [unsafe];
}
