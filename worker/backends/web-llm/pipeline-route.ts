import { InvalidLogitsError } from '../../../src/errors.ts';
import type { Draw, Logits, RuntimeSampler } from '../backend.ts';
import type { GenerationConfig, MaskSource, Pipeline, Tensor } from './library.ts';
import { noLogits, type Route } from './route.ts';

/** So small that only the largest logit is left, which web-llm has no other way to ask for. */
const onlyTheBest = 1e-5;

/**
 * By the two halves of web-llm's sample step, which are private to its pipeline: the forward pass leaves its logits on
 * the GPU, and its sampler masks them there with our matcher's bitmask and draws. A token costs the download of its id
 * and, with a grammar, the upload of the mask. What web-llm's step does beside, to tell text and stops, is not run: it
 * decodes the whole answer anew with each token.
 */
export class PipelineRoute implements Route, RuntimeSampler {
  readonly width: number;
  readonly piece: number;
  readonly sampler = this;
  readonly #pipeline: Pipeline;
  readonly #mask: PassMask;

  /** @param vocabularySize tokens that may be drawn; rows can be padded beyond it */
  constructor(pipeline: Pipeline, vocabularySize: number) {
    this.#pipeline = pipeline;
    this.width = pipeline.fullVocabSize;
    this.piece = pipeline.prefillChunkSize;
    this.#mask = new PassMask(pipeline.bitmaskSize, vocabularySize, this.width);
    // With a processor, rows would be downloaded for it.
    pipeline.logitProcessor = undefined;
    pipeline.grammarMatcher = this.#mask;
  }

  async forward(ids: readonly number[], rows: number): Promise<Logits> {
    const pipeline = this.#pipeline;
    const before = pipeline.filledKVCacheLength;
    const tensor =
      ids.length === 1
        ? await pipeline.forwardDecodeToken(ids[0]!)
        : await pipeline.forwardKnownTokens([...ids], true);
    if (!tensor || pipeline.filledKVCacheLength !== before + ids.length) {
      tensor?.dispose();
      throw new Error(`web-llm read other tokens than the ${ids.length} it was given.`);
    }
    if (rows > 0) return new TensorLogits(pipeline, tensor, this.width);
    await pipeline.device.sync();
    tensor.dispose();
    return noLogits(this.width);
  }

  async reset(): Promise<void> {
    this.#pipeline.resetChat(false);
  }

  settled(): Promise<void> {
    return this.#pipeline.device.sync();
  }

  async draw(logits: Logits, draw: Draw): Promise<number> {
    if (!(logits instanceof TensorLogits))
      throw new Error('These logits are not those of a pass of web-llm.');
    const { temperature, topP, repetitionPenalty, repeated, offsets, mask, seed } = draw;
    const isMasked = this.#mask.set(mask);
    const config: GenerationConfig = {
      temperature,
      top_p: temperature === 0 ? onlyTheBest : topP,
      // Both are among the offsets.
      presence_penalty: 0,
      frequency_penalty: 0,
      repetition_penalty: repetitionPenalty,
      ...(offsets.size > 0 && { logit_bias: Object.fromEntries(offsets) }),
      ...(isMasked && { response_format: { type: 'grammar' } }),
    };
    const pipeline = this.#pipeline;
    pipeline.appearedTokensFreq = new Map([...repeated].map((id) => [id, 0]));
    pipeline.setSeed(seed);
    const id = await pipeline.sampleFromRawLogits(logits.tensor, config);
    if (this.#mask.allows(id)) return id;
    throw new InvalidLogitsError(
      `web-llm drew token ${id}, which may not come: the device or the compiled model computes wrong numbers. Try the model with another quantization, such as q4f32_1 in place of q4f16_1.`,
    );
  }
}

/** Logits that stay where they are until somebody reads them. */
class TensorLogits implements Logits {
  readonly rows = 1;
  readonly width: number;
  readonly tensor: Tensor;
  readonly #pipeline: Pipeline;
  #isReleased = false;

  constructor(pipeline: Pipeline, tensor: Tensor, width: number) {
    this.#pipeline = pipeline;
    this.tensor = tensor;
    this.width = width;
  }

  onGpu(): null {
    return null;
  }

  async read(): Promise<Float32Array> {
    const { tvm, device } = this.#pipeline;
    tvm.beginScope();
    let copy: Tensor;
    try {
      copy = this.#pipeline.updateLogitsOnCPU(this.tensor);
    } finally {
      tvm.endScope();
    }
    await device.sync();
    return copy.toArray();
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    try {
      this.tensor.dispose();
    } catch {
      // With the device, web-llm has let go of everything.
    }
  }
}

/** Gives one row's bitmask to web-llm in the place of its grammar matcher. */
class PassMask implements MaskSource {
  /** Bits of the vocabulary. */
  readonly #vocabulary: Int32Array;
  readonly #words: Int32Array;
  readonly #isPadded: boolean;

  /**
   * @param size words of a mask
   * @param width values of a row
   */
  constructor(size: number, vocabularySize: number, width: number) {
    this.#vocabulary = new Int32Array(size);
    for (let word = 0; word < size; word++) {
      const bits = Math.min(32, Math.max(0, vocabularySize - 32 * word));
      this.#vocabulary[word] = bits === 32 ? -1 : (1 << bits) - 1;
    }
    this.#words = this.#vocabulary.slice();
    this.#isPadded = vocabularySize < width;
  }

  /** Whether the next row has to be masked. */
  set(mask: Uint32Array | null): boolean {
    if (!mask) this.#words.set(this.#vocabulary);
    else {
      for (let word = 0; word < this.#words.length; word++) {
        this.#words[word] = (mask[word] ?? 0) & this.#vocabulary[word]!;
      }
    }
    return mask !== null || this.#isPadded;
  }

  allows(id: number): boolean {
    return id >= 0 && ((this.#words[id >>> 5] ?? 0) & (1 << (id & 31))) !== 0;
  }

  async getNextTokenBitmask(): Promise<Int32Array> {
    return this.#words;
  }

  acceptToken(): boolean {
    return true;
  }

  reset(): void {}

  dispose(): void {}
}
