/** One dispatch of a compute pass, with all that was set for it. */
interface Dispatch {
  pipeline: GPUComputePipeline;
  groups: readonly GPUBindGroup[];
  /** Workgroups; or where on the GPU their number stands. */
  size: readonly [x: number, y?: number, z?: number] | { buffer: GPUBuffer; offset: number };
}

/** Dispatches that were made once and can be made again, on the same buffers. */
export class Recording {
  readonly #dispatches: readonly Dispatch[];

  constructor(dispatches: readonly Dispatch[]) {
    this.#dispatches = dispatches;
  }

  /** In one pass, each dispatch sees what those before it have written. */
  encode(encoder: GPUCommandEncoder): void {
    const pass = encoder.beginComputePass();
    let pipelineSet: GPUComputePipeline | null = null;
    for (const { pipeline, groups, size } of this.#dispatches) {
      if (pipeline !== pipelineSet) pass.setPipeline(pipeline);
      pipelineSet = pipeline;
      for (let index = 0; index < groups.length; index++) pass.setBindGroup(index, groups[index]!);
      if ('buffer' in size) pass.dispatchWorkgroupsIndirect(size.buffer, size.offset);
      else pass.dispatchWorkgroups(...size);
    }
    pass.end();
  }
}

type Method = (...values: unknown[]) => unknown;
type Methods = Record<string, Method>;

/** Calls that change nothing on the device. */
const harmless = new Set([
  'submit',
  'onSubmittedWorkDone',
  'finish',
  'end',
  'pushDebugGroup',
  'popDebugGroup',
  'insertDebugMarker',
]);

/**
 * Records what `run` has the device do; nobody else may use the device meanwhile.
 *
 * @returns `null` where that is anything else than dispatches: copies and writes would be missing in the recording
 */
export async function record(device: GPUDevice, run: () => Promise<void>): Promise<Recording | null> {
  const dispatches: Dispatch[] = [];
  let isComplete = true;
  const refuse = () => {
    isComplete = false;
  };

  const watchPass = (pass: GPUComputePassEncoder) => {
    let pipeline: GPUComputePipeline | null = null;
    const groups: GPUBindGroup[] = [];
    const dispatched = (size: Dispatch['size']) => {
      // A hole in the array would be a group that another way of setting it has set.
      if (pipeline && !groups.includes(undefined as never)) {
        dispatches.push({ pipeline, groups: [...groups], size });
      } else refuse();
    };
    watch(pass, refuse, {
      setPipeline: (given) => {
        pipeline = given as GPUComputePipeline;
      },
      setBindGroup: (index, group, offsets) => {
        if (offsets !== undefined) refuse();
        groups[index as number] = group as GPUBindGroup;
      },
      dispatchWorkgroups: (...size) => dispatched(size as [number, number?, number?]),
      dispatchWorkgroupsIndirect: (buffer, offset) =>
        dispatched({ buffer: buffer as GPUBuffer, offset: Number(offset) }),
    });
  };
  const watchEncoder = (encoder: GPUCommandEncoder) =>
    watch(encoder, refuse, {
      beginComputePass: { made: (pass) => watchPass(pass as GPUComputePassEncoder) },
    });

  const stops = [
    watch(device, null, {
      createCommandEncoder: { made: (encoder) => void watchEncoder(encoder as GPUCommandEncoder) },
    }),
    watch(device.queue, refuse, {}),
  ];
  try {
    await run();
  } finally {
    for (const stop of stops) stop();
  }
  return isComplete ? new Recording(dispatches) : null;
}

/** Sees a call before it is made, or what it has made. */
type Watcher = ((...values: unknown[]) => void) | { made(result: unknown): void };

/**
 * Has the methods of one object watched.
 *
 * @param others is told of each call of a method that has no watcher and is not harmless
 * @returns ends it
 */
function watch(target: object, others: (() => void) | null, watchers: Record<string, Watcher>): () => void {
  const methods = target as Methods;
  const before = new Map<string, PropertyDescriptor | undefined>();
  for (const name of methodNames(target)) {
    const watcher = watchers[name] ?? (harmless.has(name) ? null : others);
    if (!watcher) continue;
    const method = methods[name]!;
    before.set(name, Object.getOwnPropertyDescriptor(target, name));
    methods[name] = (...values) => {
      if (typeof watcher === 'function') watcher(...values);
      const result = method.apply(target, values);
      if (typeof watcher === 'object') watcher.made(result);
      return result;
    };
  }
  return () => {
    for (const [name, descriptor] of before) {
      if (descriptor) Object.defineProperty(target, name, descriptor);
      else delete methods[name];
    }
  };
}

/** Of the object and of all that it inherits from but `Object` and `EventTarget`. */
function methodNames(target: object): string[] {
  const names = new Set<string>();
  for (
    let level: object | null = target;
    level && level !== Object.prototype && level !== EventTarget.prototype;
    level = Object.getPrototypeOf(level) as object | null
  ) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(level))) {
      if (typeof value === 'function' && name !== 'constructor') names.add(name);
    }
  }
  return [...names];
}
