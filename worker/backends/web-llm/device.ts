import { DeviceLostError } from '../../../src/errors.ts';
import type { GpuMemory } from '../backend.ts';
import { countBuffers } from '../onnx/device.ts';

/** The devices that web-llm opens for itself, which it tells nobody of, nor of their loss. */
export class DeviceWatch {
  /** Settles with an error if one of them goes; never after {@link end}. */
  readonly lost: Promise<DeviceLostError>;
  readonly #counters: (() => GpuMemory)[] = [];
  readonly #adapterClass: GPUAdapter;
  readonly #requestDevice: GPUAdapter['requestDevice'];
  #isLost = false;
  #isOver = false;
  #lose: (error: DeviceLostError) => void = () => {};

  /** @param adapter any one: all of them request their devices by the same function, which is watched until `stop` */
  constructor(adapter: GPUAdapter) {
    this.lost = new Promise((resolve) => {
      this.#lose = resolve;
    });
    this.#adapterClass = Object.getPrototypeOf(adapter) as GPUAdapter;
    const requestDevice = this.#adapterClass.requestDevice;
    this.#requestDevice = requestDevice;
    const see = (device: GPUDevice) => this.#see(device);
    this.#adapterClass.requestDevice = async function (descriptor) {
      const device = await requestDevice.call(this, descriptor);
      see(device);
      return device;
    };
  }

  /** Whether a device is gone that was still needed. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Devices that are opened from now on are somebody else's. */
  stop(): void {
    this.#adapterClass.requestDevice = this.#requestDevice;
  }

  /** Losses are intended from now on. */
  end(): void {
    this.#isOver = true;
  }

  /** What a call gives, or the loss of the device while it runs: it might never settle then. */
  async race<Result>(call: Promise<Result>): Promise<Result> {
    const lost = this.lost.then((error): never => {
      throw error;
    });
    lost.catch(() => {});
    try {
      return await Promise.race([call, lost]);
    } catch (thrown) {
      // The call can fail of the loss before that is told.
      const told = await Promise.race([this.lost, new Promise((resolve) => setTimeout(resolve, 0))]);
      throw told instanceof DeviceLostError ? told : thrown;
    }
  }

  memory(): GpuMemory {
    const sum = { buffers: 0, bytes: 0 };
    for (const count of this.#counters) {
      const { buffers, bytes } = count();
      sum.buffers += buffers;
      sum.bytes += bytes;
    }
    return sum;
  }

  #see(device: GPUDevice): void {
    this.#counters.push(countBuffers(device));
    void device.lost.then(({ reason, message }) => {
      if (this.#isOver) return;
      this.#isLost = true;
      this.#lose(
        new DeviceLostError(
          `The GPU device of web-llm was lost (${reason})${message ? `: ${message}` : ''}. If this repeats, the model may need more memory than the GPU has.`,
        ),
      );
    });
  }
}
