/** What passes between a tab and the shared worker that has the engine. */
import type { CheckedOptions, EngineProgress } from '../engine/options.ts';
import type { SentRequest } from '../service-worker/messages.ts';

/** Of an engine's options, those that can be sent. */
export type SharedOptions = Omit<CheckedOptions, 'createWorker' | 'onProgress' | 'signal'>;

export type ToSharedWorker =
  /** Takes part, for as long as `lock` is held; answered with `welcome`. The options are the same for all tabs. */
  | { type: 'join'; lock: string; options: SharedOptions }
  /** Loads the engine, unless it is there. */
  | { type: 'load' }
  /** With a port for the answer. `lock` is the service worker's. */
  | { type: 'request'; request: SentRequest; lock: string };

export type FromSharedWorker =
  /** `lock`: the shared worker's. `missing`: what it lacks of WebGPU; null for nothing. */
  { type: 'welcome'; lock: string; missing: string | null } | { type: 'progress'; progress: EngineProgress };
