import type { Logits, Sequence } from '../../../worker/backends/backend.ts';
import type { DecodeWay } from '../../../worker/backends/onnx/session.ts';
import { keptModel } from './kept-models.ts';

/** Calls of the WebGPU interface that a step can make. */
const methods = {
  bindGroups: [GPUDevice.prototype, 'createBindGroup'],
  buffers: [GPUDevice.prototype, 'createBuffer'],
  dispatches: [GPUComputePassEncoder.prototype, 'dispatchWorkgroups'],
  maps: [GPUBuffer.prototype, 'mapAsync'],
  submits: [GPUQueue.prototype, 'submit'],
  writes: [GPUQueue.prototype, 'writeBuffer'],
} as const;

type Calls = Record<keyof typeof methods, number>;

/** Counts the calls that `run` makes. */
async function countCalls(run: () => Promise<unknown>): Promise<Calls> {
  const calls = Object.fromEntries(Object.keys(methods).map((name) => [name, 0])) as Calls;
  const undo: (() => void)[] = [];
  for (const [name, [prototype, method]] of Object.entries(methods)) {
    const target = prototype as unknown as Record<string, (...values: unknown[]) => unknown>;
    const original = target[method]!;
    target[method] = function (this: unknown, ...values: unknown[]) {
      calls[name as keyof Calls]++;
      return original.apply(this, values);
    };
    undo.push(() => {
      target[method] = original;
    });
  }
  try {
    await run();
  } finally {
    for (const restore of undo) restore();
  }
  return calls;
}

/** What each of a few steps takes, in a cache that has room for all of them. */
export async function callsOfSteps(way: DecodeWay): Promise<Calls[]> {
  const { backend } = await keptModel(way);
  const sequence: Sequence = await backend.open();
  const read = async (ids: number[]): Promise<void> => {
    const logits: Logits = await sequence.forward(ids);
    logits.release();
  };
  await read([1, 2, 3, 4, 5]);
  const calls: Calls[] = [];
  for (const id of [6, 7, 8, 9]) calls.push(await countCalls(() => read([id])));
  sequence.close();
  return calls;
}
