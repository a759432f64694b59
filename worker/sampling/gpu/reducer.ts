import type { Adjustments } from '../adjustments.ts';
import { AdjustmentBuffers } from './adjustment-buffers.ts';
import { drawShader } from './draw-shader.ts';
import { type Best, readBest, readTop, type Top } from './results.ts';
import { chunkSize, drawnWord, flags, headWords, mostCandidates, paramBytes, rowShader } from './shader.ts';
import { topShader } from './top-shader.ts';

export type LogitsType = 'float32' | 'float16';

/** Says what a failed call means, for example that the device was lost. */
export type ExplainFailure = (thrown: unknown) => Promise<Error>;

/** One row of logits on the GPU. */
export interface GpuRow {
  buffer: GPUBuffer;
  /** Index of the row's first value, in values. */
  first: number;
}

/** What is done to a row before it is reduced. */
export interface RowChanges {
  /** Bit `id % 32` of word `id / 32`: whether a token may come; `null` lets all of them. */
  mask: Uint32Array | null;
  /** The same object from row to row of one choice: then only what has changed is written to the GPU. */
  adjustments: Adjustments | null;
}

/** A token that the GPU draws from the candidates, in single precision, before they are read. */
export interface Draw {
  topP: number;
  minP: number;
  /** Where in the mass it is drawn, in [0, 1). */
  point: number;
  /** Where the GPU writes its id, as a 64-bit integer: the input of a next step. The high word has to be 0. */
  next: GPUBuffer;
}

/**
 * The most that `Top.weight` can be off, as a share: what WGSL allows `exp` to be off (3 + 2|x| units in the last
 * place) for terms down to exp(-30), below which a whole vocabulary adds nothing, and the rounding of the additions.
 */
export const weightError = 2 ** -15;
/** Below this temperature single precision does not hold the quotients: `Top.weight` says nothing then. */
export const leastTemperature = 2 ** -20;

const entryPoints = ['bestOfChunks', 'best', 'topOfChunks', 'top', 'draw'] as const;
type EntryPoint = (typeof entryPoints)[number];
type Pipelines = Record<EntryPoint, GPUComputePipeline>;

/**
 * Reduces rows of logits on the GPU to what a sampler needs of them. Pipelines and buffers are made once, a bind group
 * once for each buffer of logits. A row takes a few writes of what has changed (the whole mask, where there is one),
 * two dispatches in one submit (three where a token is drawn), and one copy to read: 8 bytes for the largest logit, 32 and 8 a candidate for the top.
 * One row at a time.
 */
export class RowReducer {
  /** Tokens of the vocabulary; rows can be wider. */
  readonly size: number;
  readonly #device: GPUDevice;
  readonly #layout: GPUBindGroupLayout;
  readonly #pipelines: Pipelines;
  readonly #bindGroups = new WeakMap<GPUBuffer, GPUBindGroup>();
  readonly #adjustments: AdjustmentBuffers;
  readonly #params: GPUBuffer;
  readonly #mask: GPUBuffer;
  readonly #keys: GPUBuffer;
  readonly #ids: GPUBuffer;
  readonly #chunks: GPUBuffer;
  readonly #result: GPUBuffer;
  readonly #staging: GPUBuffer;
  readonly #chunkCount: number;
  readonly #explain: ExplainFailure | null;
  /** What `#params` holds, and what it is to hold for the next row. */
  readonly #written = new Uint32Array(paramBytes / 4);
  readonly #wanted = new Uint32Array(paramBytes / 4);
  readonly #wantedFloats = new Float32Array(this.#wanted.buffer);
  #isBusy = false;

  private constructor(
    device: GPUDevice,
    size: number,
    layout: GPUBindGroupLayout,
    pipelines: Pipelines,
    explain: ExplainFailure | null,
  ) {
    this.#device = device;
    this.size = size;
    this.#layout = layout;
    this.#pipelines = pipelines;
    this.#explain = explain;
    this.#chunkCount = Math.ceil(size / chunkSize);
    const kept = this.#chunkCount * mostCandidates;
    const { STORAGE, UNIFORM, COPY_DST, COPY_SRC, MAP_READ } = GPUBufferUsage;
    const create = (label: string, words: number, usage: number) =>
      device.createBuffer({ label: `sampling: ${label}`, size: words * 4, usage });
    this.#adjustments = new AdjustmentBuffers(device, size);
    this.#params = create('parameters', paramBytes / 4, UNIFORM | COPY_DST);
    this.#mask = create('mask', Math.ceil(size / 32), STORAGE | COPY_DST);
    this.#keys = create('keys', size + kept, STORAGE);
    this.#ids = create('candidates of chunks', kept, STORAGE);
    this.#chunks = create('chunks', this.#chunkCount * 5, STORAGE);
    const resultWords = headWords + 2 * mostCandidates;
    this.#result = create('result', resultWords, STORAGE | COPY_SRC);
    this.#staging = create('result to read', resultWords, MAP_READ | COPY_DST);
  }

  /**
   * Compiles the shader.
   *
   * @param size tokens of the vocabulary
   * @throws Error when the device refuses the shader
   */
  static async create(
    device: GPUDevice,
    size: number,
    type: LogitsType,
    explain: ExplainFailure | null = null,
  ): Promise<RowReducer> {
    const types: GPUBufferBindingType[] = ['uniform', ...Array(4).fill('read-only-storage')];
    const layout = device.createBindGroupLayout({
      entries: Array.from({ length: 9 }, (_, binding) => ({
        binding,
        visibility: GPUShaderStage.COMPUTE,
        buffer: { type: types[binding] ?? 'storage' },
      })),
    });
    const module = device.createShaderModule({ label: 'sampling', code: rowShader + topShader + drawShader });
    const pipelineLayout = device.createPipelineLayout({ bindGroupLayouts: [layout] });
    const refused = (await module.getCompilationInfo()).messages.find(({ type }) => type === 'error');
    if (refused) {
      const { lineNum, linePos, message } = refused;
      throw new Error(`The device refuses the sampling shader at ${lineNum}:${linePos}: ${message}`);
    }
    const pipelines = await Promise.all(
      entryPoints.map(async (entryPoint) => {
        const pipeline = await device.createComputePipelineAsync({
          label: `sampling: ${entryPoint}`,
          layout: pipelineLayout,
          compute: { module, entryPoint, constants: { isHalf: type === 'float16' ? 1 : 0 } },
        });
        return [entryPoint, pipeline] as const;
      }),
    );
    return new RowReducer(device, size, layout, Object.fromEntries(pipelines) as Pipelines, explain);
  }

  /**
   * The token of the largest logit, the first of equal ones.
   *
   * @param next where the GPU also writes the id, as a 64-bit integer: the input of a next step
   */
  async best(row: GpuRow, changes: RowChanges, next: GPUBuffer | null = null): Promise<Best> {
    return this.#exclusive(() => {
      this.#prepare(row, changes, 0, 1, null);
      // Behind the key, the id is a 64-bit integer.
      const copy = next && { from: 4, to: next, bytes: 8 };
      return this.#run(row, ['bestOfChunks', 'best'], 2, copy, readBest);
    });
  }

  /**
   * The `count` largest logits, of equal ones the first, and the sums of the whole row.
   *
   * @param count 1 to 256
   * @param temperature above 0
   * @param draw a token that the GPU draws from them
   */
  async top(
    row: GpuRow,
    changes: RowChanges,
    count: number,
    temperature: number,
    draw: Draw | null = null,
  ): Promise<Top> {
    if (!(Number.isInteger(count) && count >= 1 && count <= mostCandidates)) {
      throw new RangeError(`A row gives 1 to ${mostCandidates} candidates; ${count} were asked for.`);
    }
    return this.#exclusive(() => {
      this.#prepare(row, changes, count, temperature, draw);
      const steps: EntryPoint[] = draw ? ['topOfChunks', 'top', 'draw'] : ['topOfChunks', 'top'];
      const copy = draw && { from: drawnWord * 4, to: draw.next, bytes: 4 };
      return this.#run(row, steps, headWords + 2 * count, copy, readTop);
    });
  }

  /** Resolves when the device has computed all that was asked of it. */
  async settled(): Promise<void> {
    await this.#device.queue.onSubmittedWorkDone();
  }

  destroy(): void {
    this.#adjustments.destroy();
    for (const { resource } of this.#resources()) resource.buffer.destroy();
    this.#staging.destroy();
  }

  async #exclusive<Result>(reduce: () => Promise<Result>): Promise<Result> {
    if (this.#isBusy) throw new Error('The reducer is at work on another row: await its result first.');
    this.#isBusy = true;
    try {
      return await reduce();
    } finally {
      this.#isBusy = false;
    }
  }

  #prepare(
    row: GpuRow,
    { mask, adjustments }: RowChanges,
    candidates: number,
    temperature: number,
    draw: Draw | null,
  ): void {
    const { queue } = this.#device;
    let flag = 0;
    if (mask) {
      flag |= flags.mask;
      queue.writeBuffer(this.#mask, 0, this.#wholeMask(mask));
    }
    if (adjustments) {
      if (adjustments.repeated.size > 0) flag |= flags.repetition;
      if (adjustments.offsets.size > 0) flag |= flags.offsets;
      if (flag & (flags.repetition | flags.offsets)) this.#adjustments.update(adjustments);
    }
    this.#wanted.set([row.first, this.size, flag, candidates]);
    const inverse = 1 / Math.max(temperature, leastTemperature);
    this.#wantedFloats.set([adjustments?.shrink ?? 1, adjustments?.grow ?? 1, inverse], 4);
    if (draw) this.#wantedFloats.set([draw.topP, draw.minP, draw.point], 7);
    if (this.#wanted.every((word, index) => word === this.#written[index])) return;
    queue.writeBuffer(this.#params, 0, this.#wanted);
    this.#written.set(this.#wanted);
  }

  /** As many words as the vocabulary needs: what a mask has no bit for may not come. */
  #wholeMask(mask: Uint32Array): Uint32Array<ArrayBuffer> {
    const words = Math.ceil(this.size / 32);
    if (mask.length >= words && mask.buffer instanceof ArrayBuffer) {
      return mask.subarray(0, words) as Uint32Array<ArrayBuffer>;
    }
    const whole = new Uint32Array(words);
    whole.set(mask.subarray(0, words));
    return whole;
  }

  async #run<Result>(
    { buffer }: GpuRow,
    [ofChunks, ...ofRow]: readonly EntryPoint[],
    words: number,
    copy: { from: number; to: GPUBuffer; bytes: number } | null,
    read: (words: Uint32Array) => Result,
  ): Promise<Result> {
    const encoder = this.#device.createCommandEncoder({ label: 'sampling' });
    const pass = encoder.beginComputePass();
    pass.setBindGroup(0, this.#bindGroup(buffer));
    pass.setPipeline(this.#pipelines[ofChunks!]);
    pass.dispatchWorkgroups(this.#chunkCount);
    for (const entryPoint of ofRow) {
      pass.setPipeline(this.#pipelines[entryPoint]);
      pass.dispatchWorkgroups(1);
    }
    pass.end();
    if (copy) encoder.copyBufferToBuffer(this.#result, copy.from, copy.to, 0, copy.bytes);
    encoder.copyBufferToBuffer(this.#result, 0, this.#staging, 0, words * 4);
    this.#device.queue.submit([encoder.finish()]);
    try {
      await this.#staging.mapAsync(GPUMapMode.READ, 0, words * 4);
    } catch (thrown) {
      throw this.#explain ? await this.#explain(thrown) : thrown;
    }
    try {
      return read(new Uint32Array(this.#staging.getMappedRange(0, words * 4)));
    } finally {
      this.#staging.unmap();
    }
  }

  #bindGroup(logits: GPUBuffer): GPUBindGroup {
    let group = this.#bindGroups.get(logits);
    if (!group) {
      const entries = [...this.#resources(), { binding: 1, resource: { buffer: logits } }];
      group = this.#device.createBindGroup({ label: 'sampling', layout: this.#layout, entries });
      this.#bindGroups.set(logits, group);
    }
    return group;
  }

  /** All that is bound but the logits. */
  #resources(): { binding: number; resource: { buffer: GPUBuffer } }[] {
    const { repeated, offsets } = this.#adjustments;
    const buffers = [this.#mask, repeated, offsets, this.#keys, this.#ids, this.#chunks, this.#result];
    return [
      { binding: 0, resource: { buffer: this.#params } },
      ...buffers.map((buffer, index) => ({ binding: index + 2, resource: { buffer } })),
    ];
  }
}
