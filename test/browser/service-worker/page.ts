/** What the tests do in a tab: a service with written answers, and clients that know nothing of it but its address. */
import OpenAI from 'openai';
import {
  type EngineService,
  type ServiceOptions,
  serveFromServiceWorker,
} from '../../../src/service-worker/index.ts';
import { createScriptedEngine, type Turn } from '../../../src/testing/index.ts';

declare global {
  interface Window {
    tab: typeof tab;
  }
}

const messages = [{ role: 'user' as const, content: 'Hello!' }];
const model = 'tokenprism-tiny';
const openai = () =>
  new OpenAI({ baseURL: `${location.origin}/v1`, apiKey: '-', dangerouslyAllowBrowser: true, maxRetries: 0 });
const register = () =>
  navigator.serviceWorker.register(new URL('./sw.ts', import.meta.url), { type: 'module' });

let service: EngineService | null = null;

const tab = {
  /** Engines that were made in this tab. */
  loads: 0,

  /** The tab's service worker, without a service. */
  register,

  /** Serves with written answers from an engine of this tab. */
  async serve(turns: Turn[]): Promise<void> {
    service = await serveFromServiceWorker({
      registration: await register(),
      engine: () => {
        tab.loads++;
        return createScriptedEngine(turns);
      },
    });
  },

  async serveFrom(options: ServiceOptions, ownWorker = true): Promise<void> {
    service = await serveFromServiceWorker({
      ...options,
      ...(ownWorker && { registration: await register() }),
    });
    await service.ready;
  },

  /** Why there is no service. */
  async refusal(options: ServiceOptions): Promise<string> {
    try {
      await serveFromServiceWorker(options);
      return 'none';
    } catch (error) {
      const { name, code } = error as { name: string; code: string };
      return `${name}: ${code}`;
    }
  },

  /** A service worker that sees a folder without this page. */
  elsewhere: (): Promise<ServiceWorkerRegistration> =>
    navigator.serviceWorker.register(new URL('./sw.ts', import.meta.url), {
      type: 'module',
      scope: new URL('./elsewhere/', import.meta.url).pathname,
    }),

  close: () => service!.close(),

  /** Plain `fetch`. */
  post: (body: object, init: RequestInit = {}, fetch = window.fetch) =>
    fetch('/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages, ...body }),
      ...init,
    }),

  async content(body: object = {}): Promise<string> {
    const { choices, error } = await (await tab.post(body)).json();
    return error ? `${error.code}: ${error.message}` : choices[0].message.content;
  },

  /** The client's answer, whole and streamed. */
  async client(): Promise<string[]> {
    const [served] = (await openai().models.list()).data;
    const { choices } = await openai().chat.completions.create({ model, messages });
    let text = '';
    for await (const chunk of await openai().chat.completions.create({ model, messages, stream: true }))
      text += chunk.choices[0]?.delta.content ?? '';
    return [served!.id, choices[0]?.message.content ?? '', text];
  },

  /** A stream that goes on: what came of it, and how it ended. */
  stream: { text: '', end: '' },
  /** Resolves when the first text of the answer is there. */
  async begin(signal?: AbortSignal): Promise<void> {
    const stream = await openai().chat.completions.create({ model, messages, stream: true }, { signal });
    const seen = { text: '', end: '' };
    tab.stream = seen;
    await new Promise<void>((resolve) => {
      (async () => {
        for await (const chunk of stream) {
          seen.text += chunk.choices[0]?.delta.content ?? '';
          if (seen.text) resolve();
        }
        seen.end = 'done';
      })().catch((error) => {
        seen.end = error.code ?? error.name;
      });
    });
  },

  /** Aborts a request in the middle. Streamed: plain `fetch` does; whole: the service's own. */
  async abort(stream: boolean): Promise<string> {
    const controller = new AbortController();
    const { signal } = controller;
    if (stream) {
      const { body } = await tab.post({ stream }, { signal });
      await body!.getReader().read();
      controller.abort();
      return 'AbortError';
    }
    const answer = tab.post({}, { signal }, service!.fetch).catch((error) => error.name);
    setTimeout(() => controller.abort(), 300);
    return answer;
  },
};

window.tab = tab;
