/** What the benchmark of loading asks of a page: to load an engine, or a session alone. */
import wasmFile from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm?url';
import { modelSource } from '../../src/engine/options.ts';
import { createEngine, type EngineState } from '../../src/index.ts';
import type { DeviceChoice, Dtype } from '../../src/protocol.ts';
import type { AloneJob } from './alone.ts';

/** A model as an application names it. */
export interface LoadSetting {
  model?: string;
  device: DeviceChoice;
  dtype: Exclude<Dtype, 'auto'>;
}

export interface Visit {
  load: EngineState['load'];
  /** Milliseconds from the first request to its first token. */
  firstToken: number;
}

const load = {
  /** Loads the model as an application does, and has it write a token. */
  visit: async (setting: LoadSetting): Promise<Visit> => {
    const engine = await createEngine(setting);
    const answer = await engine.chat.completions.create({
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 1,
      temperature: 0,
      include_details: true,
    });
    const firstToken = answer.tokenprism!.timings.timeToFirstToken;
    const { load } = engine.state;
    await engine.close();
    return { load, firstToken };
  },

  /** Milliseconds until a session of the model is there, its files being in memory. */
  alone: ({ model, device, dtype }: LoadSetting): Promise<number> => {
    const worker = new Worker(new URL('./alone.ts', import.meta.url), { type: 'module' });
    const job: AloneJob = {
      model: modelSource(model, undefined),
      device,
      dtype,
      wasmUrl: new URL(wasmFile, import.meta.url).href,
    };
    worker.postMessage(job);
    return new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
    });
  },
};

declare global {
  interface Window {
    load: typeof load;
  }
}
window.load = load;
