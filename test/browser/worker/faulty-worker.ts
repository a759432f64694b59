/** The engine's worker, with a GPU that a test can break. */
import '../../../worker/main.ts';

/** What befalls the device that was opened last. */
export type GpuFault = 'destroyed' | 'broken shader' | 'out of memory';

/** A worker of this name finds no adapter. */
export const withoutAdapter = 'without adapter';
export const faultChannel = 'gpu faults';

let device: GPUDevice | null = null;
const { requestDevice } = GPUAdapter.prototype;
GPUAdapter.prototype.requestDevice = async function (this: GPUAdapter, descriptor) {
  device = await requestDevice.call(this, descriptor);
  return device;
};
if (self.name === withoutAdapter) GPU.prototype.requestAdapter = async () => null;

new BroadcastChannel(faultChannel).onmessage = ({ data: fault }: MessageEvent<GpuFault>) => {
  if (fault === 'destroyed') device?.destroy();
  else if (fault === 'broken shader') device?.createShaderModule({ code: 'this is no shader' });
  else {
    const error = new GPUOutOfMemoryError('Nothing is left.');
    device?.dispatchEvent(new GPUUncapturedErrorEvent('uncapturederror', { error }));
  }
};
