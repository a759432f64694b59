import { isObject } from '../chat/fields.ts';
import type { FormatReport } from '../chat/format.ts';
import type { DetokenizeParams, Tokenized, TokenizeParams } from '../chat/tokens.ts';
import type { IncompleteToolCalls } from '../chat/types.ts';
import { EngineClosedError } from '../errors.ts';
import type { RemoteHost } from './ask.ts';
import type { ChatEngine } from './chat-engine.ts';
import { RemoteCompletions } from './completions.ts';
import type { Dialect, RemoteRequest } from './dialect.ts';
import { type RemoteModel, RemoteModels } from './models.ts';
import { type CheckedRemoteOptions, checkRemoteOptions, type RemoteEngineOptions } from './options.ts';
import { RemoteServer } from './server.ts';
import { ServerParse } from './server-parse.ts';
import { RemoteTextCompletions } from './text-completions.ts';
import { RemoteTokens } from './tokens.ts';

export interface RemoteEngineState {
  status: 'ready' | 'closed';
  baseURL: string;
  model: {
    /** The name that the server knows it by; `null` until the server was asked for its only one. */
    id: string | null;
    /** Tokens of prompt and answer together; `null` where the server has not said. */
    contextLength: number | null;
  };
  /** Who splits the output. */
  parse: 'server' | 'client';
  /** What splits it here; `null` where the server does. */
  format: FormatReport | null;
}

/** A model on a server, with the interface of one that runs here. Fires `state` whenever `state` changes. */
export class RemoteEngine extends EventTarget implements ChatEngine {
  readonly chat: { readonly completions: RemoteCompletions };
  readonly models: RemoteModels;
  /** Completions of raw prompts by the server. */
  readonly completions: RemoteTextCompletions;
  readonly #tokens: RemoteTokens;
  readonly #core: RemoteCore;

  constructor(core: RemoteCore) {
    super();
    this.#core = core;
    this.chat = { completions: new RemoteCompletions(core) };
    this.models = core.models;
    this.completions = new RemoteTextCompletions(core);
    this.#tokens = new RemoteTokens(core);
    core.onChange = () => this.dispatchEvent(new Event('state'));
  }

  /**
   * A `fetch` for OpenAI clients, as a local engine has it: the same routes, answered from the server, with the engine's
   * way of retrying, of reading reasoning, and of holding back calls that were cut.
   */
  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const { serve } = await import('../http/serve.ts');
    const { chat, models, completions: text } = this;
    const { incompleteToolCalls } = this.#core;
    const tokens = this.#tokens;
    return serve({ completions: chat.completions, models, text, tokens, incompleteToolCalls }, input, init);
  };

  /** The ids of a text or a chat, by a server that has vLLM's `/tokenize`. */
  tokenize(body: TokenizeParams): Promise<Tokenized> {
    return this.#tokens.tokenize(body);
  }

  /** The text of ids, by a server that has vLLM's `/detokenize`. */
  detokenize(body: DetokenizeParams): Promise<{ prompt: string }> {
    return this.#tokens.detokenize(body);
  }

  get state(): RemoteEngineState {
    return this.#core.state;
  }

  /** Ends open requests with an `EngineClosedError`. Safe to call twice. */
  close(): Promise<void> {
    return this.#core.close();
  }
}

class RemoteCore implements RemoteHost {
  onChange: (() => void) | null = null;
  readonly server: RemoteServer;
  readonly models: RemoteModels;
  readonly #options: CheckedRemoteOptions;
  readonly #dialect: Dialect;
  readonly #closing = new AbortController();
  #model: RemoteEngineState['model'];
  #closed: Promise<void> | null = null;

  constructor(options: CheckedRemoteOptions, dialect: Dialect) {
    this.#options = options;
    this.#dialect = dialect;
    this.server = new RemoteServer(options.server);
    this.models = new RemoteModels(this.server, this.closing);
    this.#model = { id: options.model, contextLength: null };
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  get incompleteToolCalls(): IncompleteToolCalls {
    return this.#options.incompleteToolCalls;
  }

  get state(): RemoteEngineState {
    return {
      status: this.closing.aborted ? 'closed' : 'ready',
      baseURL: this.#options.server.baseURL,
      model: { ...this.#model },
      parse: this.#options.parse,
      format: this.#dialect.format,
    };
  }

  async modelOf(body: unknown, signal: AbortSignal): Promise<string> {
    const named = isObject(body) && typeof body.model === 'string' ? body.model : null;
    return named ?? this.#model.id ?? (await this.#only(signal)).id;
  }

  async prepareChat(
    body: unknown,
    incompleteToolCalls: IncompleteToolCalls | null,
    signal: AbortSignal,
  ): Promise<RemoteRequest> {
    return this.#dialect.prepare(body, {
      model: await this.modelOf(body, signal),
      incompleteToolCalls: incompleteToolCalls ?? this.incompleteToolCalls,
      signal,
    });
  }

  async #only(signal: AbortSignal): Promise<RemoteModel> {
    const model = await this.models.only(signal);
    this.#model = { id: model.id, contextLength: model.max_model_len ?? null };
    this.onChange?.();
    return model;
  }

  close(): Promise<void> {
    if (!this.#closed) {
      const error = new EngineClosedError('The engine is closed; make a new one with createRemoteEngine().');
      this.#closing.abort(error);
      this.onChange?.();
      this.#closed = this.#dialect.close();
    }
    return this.#closed;
  }
}

/**
 * An engine over an OpenAI-compatible server, such as vLLM. Nothing is sent before the first request.
 *
 * Rejects with a `BadRequestError` for a wrong option; with `parse: 'client'` also as `createEngine` does for files
 * that are missing or wrong.
 */
export async function createRemoteEngine(options: RemoteEngineOptions): Promise<RemoteEngine> {
  const checked = checkRemoteOptions(options);
  if (checked.parse === 'server') {
    return new RemoteEngine(new RemoteCore(checked, new ServerParse(checked.reasoningField)));
  }
  const { createClientParse } = await import('./client-parse.ts');
  return new RemoteEngine(new RemoteCore(checked, await createClientParse(checked)));
}
