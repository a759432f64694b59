/** An engine on WebGPU whose device is broken while it loads, reads and writes. Runs on the page. */
import type { ChatCompletionCreateParamsStreaming } from '../../../src/chat/types.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import type { GpuFault, GpuName } from './faulty-worker.ts';

const faults = new BroadcastChannel('gpu faults');
let gpu: GpuName = 'good';

const worker = () =>
  new Worker(new URL('./faulty-worker.ts', import.meta.url), { type: 'module', name: gpu });

const said = (error: unknown) => {
  const { name, code, message } = error as { name: string; code: string | null; message: string };
  return { name, code, message };
};

/** What `createEngine` says of a GPU that breaks while the session is tried, and of such that break all they are given. */
export async function breakLoads() {
  const { createEngine } = window.tokenprism;
  const load = (onProgress: (progress: { phase: string }) => void) =>
    createEngine({ device: 'webgpu', worker, onProgress }).then(() => null, said);
  const destroyed = await load(({ phase }) => {
    if (phase === 'warmup') faults.postMessage('destroyed' satisfies GpuFault);
  });
  const errors: Record<string, Awaited<ReturnType<typeof load>>> = { destroyed };
  for (const name of ['without adapter', 'without shaders', 'without memory'] as const) {
    gpu = name;
    errors[name] = await load(() => {});
  }
  gpu = 'good';
  return errors;
}

/** The same answer without a fault, with one, and with one after which there is no adapter. */
export async function breakAnswers() {
  const { createEngine } = window.tokenprism;
  // Its tokens are the GPU's, and come faster here.
  const whole = await createEngine({ device: 'wasm' });
  const plain = await answer(whole, null, 'decoding');
  await whole.close();
  const engine = await createEngine({ device: 'webgpu', worker });
  const states: string[] = [];
  engine.addEventListener('state', () => states.push(engine.state.status));
  const remade = await answer(engine, 'broken shader', 'decoding');
  gpu = 'without adapter';
  const givenUp = await answer(engine, 'out of memory', 'prefilling').catch(said);
  const { recoveries } = engine.state;
  await engine.close();
  return { plain, remade, recoveries, givenUp, states };
}

const request: ChatCompletionCreateParamsStreaming = {
  messages: [{ role: 'user', content: 'What is the capital of France?' }],
  // Enough for a fault to be told of before the end.
  max_tokens: 16,
  stream: true,
};

/** The answer's text; `fault` comes when the request has reached `state` and, where it is decoding, has a token. */
async function answer(
  engine: Engine,
  fault: GpuFault | null,
  state: 'prefilling' | 'decoding',
): Promise<string> {
  let isDue = fault !== null;
  const strike = () => {
    if (isDue) faults.postMessage(fault);
    isDue = false;
  };
  const stream = await engine.chat.completions.create(request, {
    onProgress: (progress) => {
      if (state === 'prefilling' && progress.state === state) strike();
    },
  });
  let text = '';
  for await (const { choices } of stream) {
    text += choices[0]?.delta.reasoning ?? '';
    if (text !== '') strike();
  }
  return text;
}
