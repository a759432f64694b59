/** A scripted engine asked for one answer twice, whole and streamed, which must tell the same. */
import { expect } from 'vitest';
import { collectCompletion } from '../../../src/chat/collector.ts';
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionCreateParamsNonStreaming,
} from '../../../src/chat/types.ts';
import { createEngine, type Engine } from '../../../src/engine/engine.ts';
import type { EngineOptions } from '../../../src/engine/options.ts';
import type { ScriptedTurn } from '../../../src/protocol.ts';
import { scriptedWorker } from './in-process-worker.ts';

export type Body = ChatCompletionCreateParamsNonStreaming;

export const messages: Body['messages'] = [{ role: 'user', content: 'Weather in Rome?' }];

/** An engine that gives these answers, round and round. */
export const scriptedEngine = (turns: ScriptedTurn[], options: EngineOptions = {}): Promise<Engine> =>
  createEngine({ ...options, worker: () => scriptedWorker(turns) as unknown as Worker });

export interface BothWays {
  whole: ChatCompletion;
  chunks: ChatCompletionChunk[];
}

/** Calls get new ids with each answer, and the second one finds its prompt read. */
export const comparable = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value).replaceAll(
      /chatcmpl-tool-[0-9a-f]+|"cached_tokens":\d+|"timings":\{[^}]*\}/g,
      (found) => (found.startsWith('c') ? 'id' : found.replace(/\d+(\.\d+)?/g, '0')),
    ),
  ) as unknown;

/** Asks `engine`, whose answers must come round with the number of choices. */
export async function askBothWays(engine: Engine, body: Partial<Body>): Promise<BothWays> {
  const { completions } = engine.chat;
  const request = { messages, ...body };
  const whole = await completions.create(request);
  const chunks: ChatCompletionChunk[] = [];
  const stream = await completions.create({
    ...request,
    stream: true,
    stream_options: { include_usage: true },
  });
  for await (const chunk of stream) chunks.push(structuredClone(chunk));
  return { whole, chunks };
}

export async function* replayed(chunks: readonly ChatCompletionChunk[]): AsyncGenerator<ChatCompletionChunk> {
  yield* chunks;
}

/** The streamed answer, collected, is the whole one. */
export async function expectOne({ whole, chunks }: BothWays): Promise<void> {
  const { id: _, created: __, object: ___, ...collected } = await collectCompletion(replayed(chunks));
  const { id: _id, created: _created, object: _object, ...expected } = whole;
  expect(comparable(collected)).toEqual(comparable(expected));
}
