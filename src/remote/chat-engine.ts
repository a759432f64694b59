import type { Completions } from '../chat/completions.ts';
import type { Models } from '../chat/models.ts';

/** What all engines have in common, wherever their models run. Fires `state` whenever `state` changes. */
export interface ChatEngine extends EventTarget {
  readonly chat: { readonly completions: Pick<Completions, 'create'> };
  readonly models: Pick<Models, 'list' | 'retrieve'>;
  /** A `fetch` for OpenAI clients. */
  readonly fetch: typeof globalThis.fetch;
  readonly state: { readonly status: string };
  close(): Promise<void>;
}
