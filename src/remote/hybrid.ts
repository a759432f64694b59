import type { Model } from 'openai/resources/models';
import { isObject, shown } from '../chat/fields.ts';
import type { Engine, EngineState } from '../engine/engine.ts';
import {
  BadRequestError,
  deserializeError,
  EngineClosedError,
  ModelNotFoundError,
  serializeError,
  TokenprismError,
} from '../errors.ts';
import type { ChatEngine } from './chat-engine.ts';
import type { RemoteEngine, RemoteEngineState } from './engine.ts';
import { HybridCompletions } from './hybrid-completions.ts';
import { type EngineChoice, preferLocal } from './policy.ts';

export interface HybridEngineOptions {
  /**
   * The engine of this device; a promise of one that still loads, or fails to; a function that starts one, which is
   * called at once. `null`: none.
   */
  local: Engine | Promise<Engine> | (() => Promise<Engine>) | null;
  remote: RemoteEngine;
  /** Default {@link preferLocal}. */
  choose?: EngineChoice;
}

export interface HybridEngineState {
  status: 'ready' | 'closed';
  /** `null` while it loads, and where there is none. */
  local: EngineState | null;
  /** Why there is no local engine; `null` where there is one, or may be. */
  localError: TokenprismError | null;
  remote: RemoteEngineState;
}

/**
 * A model here and one on a server behind one interface: which of them answers is decided for each request, and not
 * seen in its answer but for the model's name. Fires `state` whenever `state` changes.
 */
export class HybridEngine extends EventTarget implements ChatEngine {
  readonly chat: { readonly completions: HybridCompletions };
  readonly models: Pick<RemoteEngine['models'], 'list' | 'retrieve'>;
  readonly #core: HybridCore;

  constructor(core: HybridCore) {
    super();
    this.#core = core;
    this.chat = { completions: new HybridCompletions(core) };
    this.models = { list: () => core.listModels(), retrieve: (id) => core.retrieveModel(id) };
    core.onChange = () => this.dispatchEvent(new Event('state'));
  }

  /** A `fetch` for OpenAI clients; calls come whole, as from engines with `incompleteToolCalls: 'separate'`. */
  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const { serve } = await import('../http/serve.ts');
    const { chat, models } = this;
    return serve({ completions: chat.completions, models, incompleteToolCalls: 'separate' }, input, init);
  };

  get state(): HybridEngineState {
    return this.#core.state;
  }

  /** Closes both engines; a local one that loads still, when it has. Safe to call twice. */
  close(): Promise<void> {
    return this.#core.close();
  }
}

/** The two engines and what is known of them. */
export class HybridCore {
  onChange: (() => void) | null = null;
  readonly remote: RemoteEngine;
  readonly choose: EngineChoice;
  #local: Engine | null = null;
  #localError: TokenprismError | null = null;
  readonly #loading: Promise<void>;
  #closed: Promise<void> | null = null;

  constructor({ local, remote, choose = preferLocal }: HybridEngineOptions) {
    this.remote = remote;
    this.choose = choose;
    const changed = () => this.onChange?.();
    remote.addEventListener('state', changed);
    const given = typeof local === 'function' ? started(local) : local;
    const adopt = (engine: Engine | null) => {
      this.#local = engine;
      engine?.addEventListener('state', changed);
    };
    if (given instanceof Promise) {
      this.#loading = given
        .then(adopt, (error: unknown) => {
          this.#localError = named(error);
        })
        .then(changed);
    } else {
      adopt(given);
      this.#loading = Promise.resolve();
    }
  }

  get local(): Engine | null {
    return this.#local;
  }

  get state(): HybridEngineState {
    return {
      status: this.#closed ? 'closed' : 'ready',
      local: this.#local?.state ?? null,
      localError: this.#localError,
      remote: this.remote.state,
    };
  }

  /** Throws an `EngineClosedError` after `close`. */
  checkOpen(): void {
    if (this.#closed) {
      throw new EngineClosedError('The engine is closed; make a new one with createHybridEngine().');
    }
  }

  /** The models that can answer now: without the server's where it can't be reached and there is a local one. */
  async listModels(): Promise<{ object: 'list'; data: Model[] }> {
    this.checkOpen();
    const own = this.#local ? (await this.#local.models.list()).data : [];
    const others = await this.remote.models.list().then(
      ({ data }) => data,
      (error: unknown) => {
        if (own.length === 0) throw error;
        return [];
      },
    );
    return { object: 'list', data: [...own, ...others.filter(({ id }) => own[0]?.id !== id)] };
  }

  async retrieveModel(id: string): Promise<Model> {
    const { data } = await this.listModels();
    const model = data.find((other) => other.id === id);
    if (model) return model;
    throw new ModelNotFoundError(
      `There is no model ${shown(id)}; there are ${data.map((other) => shown(other.id)).join(', ')}.`,
      { param: 'model', code: 'model_not_found' },
    );
  }

  close(): Promise<void> {
    if (!this.#closed) {
      const local = this.#local;
      // Not waited for: it may load for long.
      if (!local) void this.#loading.then(() => this.#local?.close());
      this.#closed = Promise.all([this.remote.close(), local?.close()]).then(() => {});
      this.onChange?.();
    }
    return this.#closed;
  }
}

const started = async (start: () => Promise<Engine>) => start();

export function named(error: unknown): TokenprismError {
  return error instanceof TokenprismError ? error : deserializeError(serializeError(error));
}

/**
 * One engine of two. Resolves at once, also while the local one still loads: until then, and where it fails to, the
 * remote one answers. Rejects with a `BadRequestError` for a wrong option.
 */
export async function createHybridEngine(options: HybridEngineOptions): Promise<HybridEngine> {
  if (!isObject(options)) throw bad('options', 'createHybridEngine needs an object with local and remote.');
  const { local, remote, choose, ...others } = options;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw bad(unknown, `createHybridEngine has no option '${unknown}'; it has local, remote, choose.`);
  }
  const isEngine = (value: unknown) => isObject(value) && isObject(value.chat) && 'state' in value;
  if (!isEngine(remote)) throw bad('remote', "'remote' must be an engine of createRemoteEngine.");
  if (local !== null && typeof local !== 'function' && !(local instanceof Promise) && !isEngine(local)) {
    throw bad('local', "'local' must be an engine of createEngine, a promise or a maker of one, or null.");
  }
  if (choose !== undefined && typeof choose !== 'function')
    throw bad('choose', "'choose' must be a function.");
  return new HybridEngine(new HybridCore(options));
}

function bad(param: string, message: string): BadRequestError {
  return new BadRequestError(message, { param, code: 'invalid_value' });
}
