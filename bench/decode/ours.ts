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

interface Chooser {
  /** Whether the next step can begin before the token is read. */
  goesOn: boolean;
  /** @param next where the GPU writes the token too */
  choose(logits: Logits, next: GPUBuffer | null): Promise<number>;
}

/** Chooses tokens on the GPU where the backend has a reducer. */
function chooser({ reducer }: Backend, options: SamplingOptions, prompt: number[]): Chooser {
  if (!reducer) {
    const sampler = new Sampler(options, 1, 0, prompt);
    return { goesOn: false, choose: async (logits) => sampler.next(await logits.read(0)) };
  }
  const sampler = new GpuSampler(reducer, options, 1, 0, prompt);
  return {
    goesOn: sampler.choosesAlone,
    choose: (logits, next) => sampler.next(logits.onGpu(0)!, null, () => logits.read(0), next),
  };
}

export async function loadOurs(
  { folder, dtype, contextLength, gpuSampling }: DecodeModel,
  way: DecodeWay,
): Promise<Loaded> {
  const files = openModelFiles(
    { kind: 'folder', url: new URL(folder, location.href).href },
    {
      fetch: (url, init) => fetch(url, init),
      store: null,
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
    { goesOn, choose }: Chooser,
  ): Promise<DecodeRun> {
    const [ids, times, encode]: number[][] = [[], [], []];
    const before = callsSoFar();
    let logits: Logits | null = null;
    for (let from = 0; from < prompt.length; from += backend.prefillPiece) {
      const piece = prompt.slice(from, from + backend.prefillPiece);
      const isLast = from + piece.length === prompt.length;
      logits?.release();
      logits = await sequence.forward(piece, isLast ? 1 : 0);
    }
    const step = async (forward: () => Promise<Logits>) => {
      const start = performance.now();
      const result = await forward();
      encode!.push(performance.now() - start);
      return result;
    };
    for (;;) {
      const isLast = ids!.length + 1 === tokens;
      const next = (goesOn && !isLast && sequence.next) || null;
      const chosen = choose(logits!, next?.token ?? null);
      const begun = next && (await step(() => next.forward()));
      const id = await chosen;
      ids!.push(id);
      times!.push(performance.now());
      logits!.release();
      if (isLast) break;
      logits = begun ?? (await step(() => sequence.forward([id], 1)));
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
