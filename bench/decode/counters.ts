/** Calls of the WebGPU interface since the page was opened. They are the same on every machine and adapter. */
export interface Calls {
  dispatches: number;
  bindGroups: number;
  buffers: number;
  writes: number;
  submits: number;
  maps: number;
  /** Bytes mapped for reading. */
  bytesRead: number;
}

const calls: Calls = {
  dispatches: 0,
  bindGroups: 0,
  buffers: 0,
  writes: 0,
  submits: 0,
  maps: 0,
  bytesRead: 0,
};

export const callsSoFar = (): Calls => ({ ...calls });

export function callsSince(before: Calls): Calls {
  const changed = Object.entries(calls).map(([name, value]) => [name, value - before[name as keyof Calls]]);
  return Object.fromEntries(changed) as unknown as Calls;
}

type Methods = Record<string, (...values: never[]) => unknown>;

/** Has `count` called before every call of a method. */
function watch(prototype: object, name: string, count: (self: unknown, values: unknown[]) => void): void {
  const methods = prototype as Methods;
  const method = methods[name]!;
  methods[name] = function (this: unknown, ...values: never[]) {
    count(this, values);
    return method.apply(this, values);
  };
}

/** Starts to count; once, before the first device is made. */
export function countCalls(): void {
  const one = (name: Exclude<keyof Calls, 'bytesRead'>) => () => {
    calls[name]++;
  };
  watch(GPUComputePassEncoder.prototype, 'dispatchWorkgroups', one('dispatches'));
  watch(GPUComputePassEncoder.prototype, 'dispatchWorkgroupsIndirect', one('dispatches'));
  watch(GPUDevice.prototype, 'createBindGroup', one('bindGroups'));
  watch(GPUDevice.prototype, 'createBuffer', one('buffers'));
  watch(GPUQueue.prototype, 'writeBuffer', one('writes'));
  watch(GPUQueue.prototype, 'submit', one('submits'));
  watch(GPUBuffer.prototype, 'mapAsync', (self, [mode, offset = 0, size]) => {
    calls.maps++;
    const buffer = self as GPUBuffer;
    if (mode === GPUMapMode.READ) calls.bytesRead += Number(size ?? buffer.size - Number(offset));
  });
}
