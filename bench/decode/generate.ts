/** `generate()` of transformers.js, on a device with the same features as ours. */
import { AutoModelForCausalLM, env, Tensor } from '@huggingface/transformers';
import { findAdapter, minimumSubgroupSize, openDevice } from '../../worker/backends/onnx/device.ts';
import { exclusive } from '../../worker/backends/onnx/runtime.ts';
import { type DecodeModel, type DecodeRun, intervals, type Loaded } from './contender.ts';
import { callsSince, callsSoFar } from './counters.ts';

env.allowRemoteModels = false;
env.allowLocalModels = true;
env.useBrowserCache = false;

interface Output {
  sequences: Tensor;
  past_key_values: { dispose(): unknown };
}

export async function loadGenerate({ folder, dtype }: DecodeModel): Promise<Loaded> {
  const found = await findAdapter();
  if (!found.adapter) throw new Error(found.missing);
  const own = await openDevice(found.adapter, minimumSubgroupSize);
  const { pathname } = new URL(folder, location.href);
  const name = pathname.split('/').at(-2)!;
  env.localModelPath = pathname.slice(0, -name.length - 1);
  const model = await AutoModelForCausalLM.from_pretrained(name, {
    device: 'webgpu',
    dtype,
    session_options: { executionProviders: [{ name: 'webgpu', device: own.device as never }] },
  });

  /** Writes behind `ids`, whose first tokens may be held already. */
  async function write(
    ids: number[],
    tokens: number,
    topK: number,
    past?: Output['past_key_values'],
  ): Promise<{ run: DecodeRun; past: Output['past_key_values'] }> {
    const times: number[] = [];
    const before = callsSoFar();
    const shape = [1, ids.length];
    const output = (await exclusive(async () =>
      model.generate({
        inputs: new Tensor('int64', BigInt64Array.from(ids, BigInt), shape),
        // Without a mask, tokens that are held would be read again.
        attention_mask: new Tensor('int64', new BigInt64Array(ids.length).fill(1n), shape),
        ...(past && { past_key_values: past }),
        return_dict_in_generate: true,
        max_new_tokens: tokens,
        min_new_tokens: tokens,
        do_sample: topK > 0,
        top_k: topK > 0 ? topK : 50,
        temperature: 1,
        repetition_penalty: 1,
        eos_token_id: [-1],
        streamer: { put: () => void times.push(performance.now()), end: () => {} } as never,
      } as never),
    )) as unknown as Output;
    const written = Array.from(output.sequences.data as BigInt64Array, Number).slice(ids.length);
    return {
      // The streamer gets the prompt first.
      run: { ids: written, waits: intervals(times.slice(1)), calls: callsSince(before), encode: [] },
      past: output.past_key_values,
    };
  }

  let held: Output['past_key_values'] | undefined;
  let conversation: number[] = [];
  return {
    run: async (prompt, tokens, topK) => {
      const { run, past } = await write(prompt, tokens, topK);
      await exclusive(async () => past.dispose());
      return run;
    },
    goOn: async (prompt, tokens) => {
      conversation = [...conversation, ...prompt];
      const { run, past } = await write(conversation, tokens, 0, held);
      held = past;
      conversation.push(...run.ids);
      return run;
    },
    close: async () => {
      await exclusive(async () => held?.dispose());
      await exclusive(() => model.dispose());
      own.destroy();
    },
  };
}
