import { afterEach } from 'vitest';
import type { ChatCompletionChunk } from '../../../src/chat/types.ts';
import {
  createRemoteEngine,
  type RemoteCreateParams,
  type RemoteEngine,
  type RemoteEngineOptions,
} from '../../../src/remote/index.ts';
import { type Answer, ReplayServer } from './replay-server.ts';

export const messages = [{ role: 'user' as const, content: 'Hi' }];

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0).reverse()) await thing.close();
});

/** Closed when the test has ended, in the opposite order. */
export function closing<Thing extends { close(): Promise<void> }>(thing: Thing): Thing {
  open.push(thing);
  return thing;
}

/** A server that answers so, and a remote engine on it. */
export async function serve(
  answers: Answer | Answer[],
  options: Partial<RemoteEngineOptions> = {},
): Promise<{ engine: RemoteEngine; server: ReplayServer }> {
  const server = closing(await ReplayServer.start(...[answers].flat()));
  const engine = await createRemoteEngine({ baseURL: server.baseURL, model: 'served', ...options });
  return { engine: closing(engine), server };
}

/** What a promise is rejected with. */
export const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: unknown) => error,
  );

/** The chunks of a streamed answer. */
export async function chunksOf(
  engine: RemoteEngine,
  more: Partial<RemoteCreateParams> = {},
): Promise<ChatCompletionChunk[]> {
  const stream = await engine.chat.completions.create({ messages, ...more, stream: true });
  const chunks: ChatCompletionChunk[] = [];
  for await (const one of stream) chunks.push(one);
  return chunks;
}

/** What the chunks say of choice 0, without ids and times. */
export const parts = (chunks: readonly ChatCompletionChunk[]) =>
  chunks.flatMap(({ choices }) =>
    choices.map(({ delta, finish_reason: end, ...more }) => ({
      ...delta,
      ...(end && { end }),
      ...(more.incomplete_tool_calls && { incomplete: more.incomplete_tool_calls }),
    })),
  );

/** The text of a streamed answer, the error that it ended with, and the finish reason of its last chunk. */
export async function read(engine: RemoteEngine): Promise<{ text: string; error: unknown; last: unknown }> {
  let text = '';
  let last: ChatCompletionChunk | null = null;
  try {
    const stream = await engine.chat.completions.create({ messages, stream: true });
    for await (const one of stream) {
      last = one;
      text += one.choices[0]?.delta.reasoning ?? one.choices[0]?.delta.content ?? '';
    }
  } catch (error) {
    return { text, error, last: last?.choices[0]?.finish_reason };
  }
  return { text, error: null, last: last?.choices[0]?.finish_reason };
}
