/** The order of a load's parts, and its times. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import type { LoadProgress } from '../../../src/protocol.ts';
import { loadModel } from '../../../worker/load.ts';
import { LoadClock } from '../../../worker/load-clock.ts';
import { tinyFolder } from './models.ts';

const wasm = {
  bytes: readFileSync(
    createRequire(import.meta.url).resolve('onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm'),
  ),
};

/** A load of the embedded model with files that come when a test lets them. */
function load(answer: (name: string, signal: AbortSignal) => Response | Promise<Response>) {
  const progress: LoadProgress[] = [];
  const requested: string[] = [];
  const done = loadModel(
    {
      type: 'load',
      model: { kind: 'folder', url: tinyFolder.href },
      backend: { kind: 'onnx', device: 'wasm', dtype: 'q4' },
      wasmUrl: null,
    },
    (step) => progress.push(step),
    new AbortController().signal,
    {
      fetch: async (url, init) => {
        const name = String(url).slice(tinyFolder.href.length);
        requested.push(name);
        return answer(name, init!.signal!);
      },
      store: null,
      wasm,
    },
  );
  return { done, progress, requested };
}

const file = (name: string) => {
  try {
    return new Response(readFileSync(new URL(name, tinyFolder)));
  } catch {
    return new Response(null, { status: 404 });
  }
};

describe('a load', () => {
  it('asks for the weights at once, and makes the tokenizer while they come', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { done, progress, requested } = load(async (name) => {
      if (name.endsWith('.onnx')) await held;
      return file(name);
    });
    await expect.poll(() => progress.map(({ phase }) => phase), { timeout: 50_000 }).toContain('tokenizer');
    expect(requested).toContain('onnx/model_q4.onnx');
    expect(progress.map(({ phase }) => phase)).not.toContain('session');
    release();
    const { backend } = await done;
    expect(backend.report.device).toBe('wasm');
    expect(progress.at(-1)!.phase).toBe('session');
    await backend.close();
  }, 60_000);

  it('that fails gives up what is still on its way', async () => {
    let isGivenUp = false;
    const { done } = load((name, signal) => {
      if (name.endsWith('-manifest.json')) return new Response(null, { status: 404 });
      if (!name.endsWith('.onnx')) return new Response('{', { status: 200 });
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          isGivenUp = true;
          reject(signal.reason);
        });
      });
    });
    await expect(done).rejects.toThrow(/is not valid JSON/);
    expect(isGivenUp).toBe(true);
  });
});

describe('the times of a load', () => {
  it('are read from its progress: the last byte, and how long each step ran', () => {
    let now = 1000;
    const clock = new LoadClock(() => now);
    const at = (time: number, phase: LoadProgress['phase']) => {
      now = 1000 + time;
      clock.see({ phase, file: null, loaded: 0, total: 0 });
    };
    at(10, 'download');
    at(20, 'tokenizer');
    at(300, 'download');
    at(310, 'session');
    at(400, 'warmup');
    // The self-test refused the first way.
    at(450, 'session');
    at(470, 'warmup');
    now = 1500;
    expect(clock.timings()).toEqual({ download: 300, session: 110, warmup: 80, total: 500 });
  });
});
