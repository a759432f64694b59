import { findAdapter, openDevice } from '../../../worker/backends/onnx/device.ts';
import { type Recording, record } from '../../../worker/backends/onnx/recording.ts';

const code = `
@group(0) @binding(0) var<storage, read_write> values: array<u32>;
@group(1) @binding(0) var<storage, read> added: array<u32>;
@compute @workgroup_size(1) fn double(@builtin(workgroup_id) at: vec3u) { values[at.x] *= 2u; }
@compute @workgroup_size(1) fn add(@builtin(workgroup_id) at: vec3u) { values[at.x] += added[0]; }
`;

/** A run recorded and done again twice, and which runs are refused. */
export async function recordRuns() {
  const found = await findAdapter();
  if (!found.adapter) throw new Error(found.missing);
  const { device, destroy } = await openDevice(found.adapter, Number.POSITIVE_INFINITY);
  const { STORAGE, COPY_SRC, COPY_DST, INDIRECT, MAP_READ } = GPUBufferUsage;
  const buffer = (values: number[], usage: number) => {
    const made = device.createBuffer({ size: values.length * 4, usage, mappedAtCreation: true });
    new Uint32Array(made.getMappedRange()).set(values);
    made.unmap();
    return made;
  };
  const values = buffer([1, 1, 1, 1], STORAGE | COPY_SRC | COPY_DST);
  const added = buffer([5], STORAGE | COPY_DST);
  const three = buffer([0, 3, 1, 1], INDIRECT);
  const layouts = (['storage', 'read-only-storage'] as const).map((type) =>
    device.createBindGroupLayout({
      entries: [{ binding: 0, visibility: GPUShaderStage.COMPUTE, buffer: { type } }],
    }),
  );
  const groups = [values, added].map((resource, index) =>
    device.createBindGroup({
      layout: layouts[index]!,
      entries: [{ binding: 0, resource: { buffer: resource } }],
    }),
  );
  const layout = device.createPipelineLayout({ bindGroupLayouts: layouts });
  const module = device.createShaderModule({ code });
  const [double, add] = ['double', 'add'].map((entryPoint) =>
    device.createComputePipeline({ layout, compute: { module, entryPoint } }),
  ) as [GPUComputePipeline, GPUComputePipeline];

  /** Adds 5 to all, doubles the first three: in two passes and two submits. */
  const run = async () => {
    for (const pipeline of [add, double]) {
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      for (const [index, group] of groups.entries()) pass.setBindGroup(index, group);
      if (pipeline === add) pass.dispatchWorkgroups(4);
      else pass.dispatchWorkgroupsIndirect(three, 4);
      pass.end();
      device.queue.submit([encoder.finish()]);
      await device.queue.onSubmittedWorkDone();
    }
  };
  const copy = async () => {
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(values, 0, values, 8, 8);
    device.queue.submit([encoder.finish()]);
  };
  const write = async () => device.queue.writeBuffer(added, 0, Uint32Array.of(5));
  const methods = () => [device.createCommandEncoder, device.queue.writeBuffer, device.createBuffer];
  const before = methods();
  const recording = (await record(device, run)) as Recording;
  const again = await record(device, async () => {
    for (let time = 0; time < 2; time++) {
      const encoder = device.createCommandEncoder();
      recording.encode(encoder);
      device.queue.submit([encoder.finish()]);
    }
  });
  const staging = device.createBuffer({ size: 16, usage: MAP_READ | COPY_DST });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(values, 0, staging, 0, 16);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(GPUMapMode.READ);
  const left = [...new Uint32Array(staging.getMappedRange())];
  const refused = {
    copy: (await record(device, copy)) === null,
    write: (await record(device, write)) === null,
    both: (await record(device, () => run().then(write))) === null,
    neither: again === null,
  };
  const failure = record(device, async () => {
    throw new Error('in the run');
  });
  const failed = await failure.catch((error: Error) => error.message);
  const isRestored = methods().every((method, index) => method === before[index]);
  destroy();
  return { left, refused, failed, isRestored };
}
