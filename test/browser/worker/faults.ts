/** An engine on WebGPU whose device is broken while it loads, reads and writes. Runs on the page. */
import type { ChatCompletionCreateParamsStreaming } from '../../../src/chat/types.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import type { GpuFault } from './faulty-worker.ts';

// As the module has it, which only runs in a worker.
const withoutAdapter = 'without adapter';
const faults = new BroadcastChannel('gpu faults');
const isSet = { adapter: true };

const worker = () =>
  new Worker(new URL('./faulty-worker.ts', import.meta.url), {
    type: 'module',
    name: isSet.adapter ? 'with adapter' : withoutAdapter,
  });

const said = (error: unknown) => {
  const { name, code } = error as { name: string; code: string | null };
  return { name, code };
};

/** What `createEngine` says when the device goes while the session is made. */
export async function breakLoad() {
  const { createEngine } = window.tokenprism;
  const onProgress = ({ phase }: { phase: string }) => {
    if (phase === 'warmup') faults.postMessage('destroyed' satisfies GpuFault);
  };
  return createEngine({ device: 'webgpu', worker, onProgress }).then(() => null, said);
}

/** The same answer without a fault, with one, and with one after which there is no adapter. */
export async function breakAnswers() {
  const { createEngine } = window.tokenprism;
  const engine = await createEngine({ device: 'webgpu', worker });
  const states: string[] = [];
  engine.addEventListener('state', () => states.push(engine.state.status));
  const plain = await answer(engine, null, 'decoding');
  const remade = await answer(engine, 'broken shader', 'decoding');
  isSet.adapter = false;
  const givenUp = await answer(engine, 'out of memory', 'prefilling').catch(said);
  const { recoveries } = engine.state;
  await engine.close();
  return { plain, remade, recoveries, givenUp, states };
}

const request: ChatCompletionCreateParamsStreaming = {
  messages: [{ role: 'user', content: 'What is the capital of France?' }],
  max_tokens: 5,
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
