/** Our backend, in one of the ways that a decode step runs, with tokens chosen as a request chooses them. */
import type { SamplingOptions } from '../../src/protocol.ts';
import type { Backend, Logits, Sequence } from '../../worker/backends/backend.ts';
import { createOnnxBackend } from '../../worker/backends/onnx/backend.ts';
import type { DecodeWay } from '../../worker/backends/onnx/session.ts';
import { openModelFiles } from '../../worker/cache/files.ts';
import { GpuSampler } from '../../worker/sampling/gpu/sampler.ts';
import { Sampler } from '../../worker/sampling/sampler.ts';
import { type DecodeModel, type DecodeRun, intervals, type Loaded } from './contender.ts';
import { callsSince, callsSoFar } from './counters.ts';

const neutral: SamplingOptions = {
  temperature: 0,
  topK: 0,
  topP: 1,
  minP: 0,
  repetitionPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  seed: null,
};

type Choose = (logits: Logits) => Promise<number>;

/** Chooses tokens on the GPU where the backend has a reducer. */
function chooser({ reducer }: Backend, options: SamplingOptions, prompt: number[]): Choose {
  if (!reducer) {
    const sampler = new Sampler(options, 1, 0, prompt);
    return async (logits) => sampler.next(await logits.read(0));
  }
  const sampler = new GpuSampler(reducer, options, 1, 0, prompt);
  return (logits) => sampler.next(logits.onGpu(0)!, null, () => logits.read(0));
}

export async function loadOurs(
  { folder, dtype, contextLength, gpuSampling }: DecodeModel,
  way: DecodeWay,
): Promise<Loaded> {
  const files = openModelFiles(
    { kind: 'folder', url: new URL(folder, location.href).href },
    {
      fetch: (url, init) => fetch(url, init),
      caches: null,
      onProgress: () => {},
      signal: new AbortController().signal,
    },
  );
  const config = await files.json('config.json');
  const backend: Backend = await createOnnxBackend({
    files,
    config,
    device: 'webgpu',
    dtype,
    contextLength,
    fastest: way,
    sampling: gpuSampling ? 'gpu' : 'cpu',
    onProgress: () => {},
  });
  if (backend.report.decode !== way) {
    throw new Error(`This model does not run ${way}: ${backend.report.limits.join('; ')}`);
  }

  async function write(
    sequence: Sequence,
    prompt: number[],
    tokens: number,
    choose: Choose,
  ): Promise<DecodeRun> {
    const [ids, times, encode]: number[][] = [[], [], []];
    const before = callsSoFar();
    for (let from = 0; from < prompt.length; from += backend.prefillPiece) {
      const piece = prompt.slice(from, from + backend.prefillPiece);
      const isLast = from + piece.length === prompt.length;
      const logits = await sequence.forward(piece, isLast ? 1 : 0);
      if (isLast) ids!.push(await choose(logits));
      logits.release();
    }
    times!.push(performance.now());
    while (ids!.length < tokens) {
      const start = performance.now();
      const logits = await sequence.forward([ids!.at(-1)!], 1);
      encode!.push(performance.now() - start);
      ids!.push(await choose(logits));
      logits.release();
      times!.push(performance.now());
    }
    return { ids: ids!, waits: intervals(times!), calls: callsSince(before), encode: encode! };
  }

  // Kept from run to run, as a conversation's would be.
  const sequence = await backend.open();
  const conversation = await backend.open();
  /** Written and not read yet. */
  let unread: number[] = [];
  return {
    run: async (prompt, tokens, topK) => {
      const options = topK > 0 ? { ...neutral, temperature: 1, topK } : neutral;
      await sequence.truncate(0);
      return write(sequence, prompt, tokens, chooser(backend, options, prompt));
    },
    goOn: async (prompt, tokens) => {
      const run = await write(
        conversation,
        [...unread, ...prompt],
        tokens,
        chooser(backend, neutral, prompt),
      );
      unread = [run.ids.at(-1)!];
      return run;
    },
    close: async () => {
      sequence.close();
      conversation.close();
      await backend.close();
    },
  };
}
