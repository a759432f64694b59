import { computed, signal } from '@preact/signals';
import { createEngine, type Engine, type EngineState } from '../../src/index.ts';
import { messageOf } from '../conversation/run-answer.ts';
import type { Settings } from '../settings.ts';

export type ModelStatus =
  /** `total` 0: nobody knows how much there is to come. Bytes, and bytes a second. */
  | {
      state: 'loading';
      label: string;
      loaded: number;
      total: number;
      speed: number | null;
      canPause: boolean;
    }
  /** What has come is kept where the files are verified, and the download goes on from there. */
  | { state: 'paused'; loaded: number; total: number }
  | { state: 'ready'; engine: Engine; report: EngineState }
  | { state: 'failed'; message: string };

/** The model of the app: one at a time, loaded anew when another one is wanted. */
export class ModelSession {
  readonly status = signal<ModelStatus>(starting('Starting…'));
  /** What is loaded, or was to be. */
  readonly settings = signal<Settings | null>(null);
  readonly engine = computed(() => (this.status.value.state === 'ready' ? this.status.value.engine : null));
  #loading: AbortController | null = null;

  /** Ends what is loaded or being loaded. Never rejects: what goes wrong is the status. */
  async load(settings: Settings): Promise<void> {
    this.#loading?.abort();
    const abort = new AbortController();
    this.#loading = abort;
    const before = this.engine.value;
    this.settings.value = settings;
    this.#show(abort, starting('Starting…'));
    try {
      await before?.close();
      const engine = await createEngine({
        device: settings.device,
        ...(settings.model !== null && { model: settings.model }),
        signal: abort.signal,
        onProgress: ({ phase, overall: { loaded, total, bytesPerSecond: speed } }) => {
          if (phase === 'session' || phase === 'warmup') {
            return this.#show(abort, starting('Starting the model'));
          }
          const label = 'Loading the model';
          this.#show(abort, { state: 'loading', label, loaded, total, speed, canPause: true });
        },
      });
      const show = () => this.#show(abort, { state: 'ready', engine, report: engine.state });
      engine.addEventListener('state', show);
      show();
    } catch (error) {
      this.fail(messageOf(error), abort);
    }
  }

  /** Something came in the way of a load. */
  fail(message: string, load = this.#loading): void {
    if (load === this.#loading) this.status.value = { state: 'failed', message };
  }

  /** Stops a download, which `resume` goes on with. */
  pause(): void {
    const status = this.status.value;
    if (status.state !== 'loading' || !status.canPause) return;
    const { loaded, total } = status;
    this.#loading?.abort();
    this.#loading = null;
    this.status.value = { state: 'paused', loaded, total };
  }

  resume(): void {
    const settings = this.settings.value;
    if (this.status.value.state === 'paused' && settings) void this.load(settings);
  }

  /** A load that was replaced by another one shows nothing any more. */
  #show(load: AbortController, status: ModelStatus): void {
    if (load === this.#loading) this.status.value = status;
  }
}

function starting(label: string): ModelStatus {
  return { state: 'loading', label, loaded: 0, total: 0, speed: null, canPause: false };
}

export const session = new ModelSession();
