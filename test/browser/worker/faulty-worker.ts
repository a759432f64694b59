/** The engine's worker, with a GPU that a test can break. */
import '../../../worker/main.ts';

/** What befalls the device that was opened last. */
export type GpuFault = 'destroyed' | 'broken shader' | 'out of memory';

/** What a worker finds by its name. */
export type GpuName = 'good' | 'without adapter' | 'without shaders' | 'without memory';
export const faultChannel = 'gpu faults';

let device: GPUDevice | null = null;
const { requestDevice } = GPUAdapter.prototype;
GPUAdapter.prototype.requestDevice = async function (this: GPUAdapter, descriptor) {
  device = await requestDevice.call(this, descriptor);
  return device;
};

const name = self.name as GpuName;
if (name === 'without adapter') GPU.prototype.requestAdapter = async () => null;
if (name === 'without shaders') {
  const { createShaderModule } = GPUDevice.prototype;
  GPUDevice.prototype.createShaderModule = function (this: GPUDevice) {
    return createShaderModule.call(this, { code: 'this is no shader' });
  };
}
if (name === 'without memory') {
  const { createBuffer } = GPUDevice.prototype;
  GPUDevice.prototype.createBuffer = function (this: GPUDevice, descriptor) {
    // More than there is of it: a buffer that is none, as without memory.
    const size = descriptor.size > 100_000 ? 2 ** 40 : descriptor.size;
    return createBuffer.call(this, { ...descriptor, size });
  };
}

new BroadcastChannel(faultChannel).onmessage = ({ data: fault }: MessageEvent<GpuFault>) => {
  if (fault === 'destroyed') device?.destroy();
  else if (fault === 'broken shader') device?.createShaderModule({ code: 'this is no shader' });
  else {
    const error = new GPUOutOfMemoryError('Nothing is left.');
    device?.dispatchEvent(new GPUUncapturedErrorEvent('uncapturederror', { error }));
  }
};
