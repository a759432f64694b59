/**
 * The whole way of a token over the page: from the worker's message to the chunk in the caller's hands. Everything is
 * the engine's own but the worker, which is a port that says what it is told to say.
 */

import type { WorkerPort } from '../../src/engine/connection.ts';
import { createEngine } from '../../src/engine/engine.ts';
import type { FromWorker, TokenTable, ToWorker } from '../../src/protocol.ts';
import { device } from '../../test/unit/chat/scripted.ts';
import type { Step } from './costs.ts';
import { type MeasuredStream, TOOL } from './streams.ts';

class Port implements WorkerPort {
  #listener: (event: Event) => void = () => {};
  readonly #table: TokenTable;

  constructor(table: TokenTable) {
    this.#table = table;
  }

  addEventListener(type: string, listener: (event: Event) => void): void {
    if (type === 'message') this.#listener = listener;
  }

  say(data: FromWorker): void {
    this.#listener({ data } as MessageEvent<FromWorker>);
  }

  postMessage(message: ToWorker): void {
    queueMicrotask(() => this.#answer(message));
  }

  #answer(message: ToWorker): void {
    if (message.type === 'close') this.say({ type: 'closed' });
    if (message.type === 'generate') {
      this.say({
        type: 'started',
        request: message.request,
        promptTokenIds: new Uint32Array(),
        prompt: '',
        seed: 0,
      });
    }
    if (message.type !== 'load') return;
    this.say({
      type: 'loaded',
      model: {
        id: 'measured',
        modelType: 'qwen3',
        vocabularySize: this.#table.flags.length,
        contextLength: Number.MAX_SAFE_INTEGER,
        eosTokenIds: [],
        chatTemplate: '',
        defaults: {},
      },
      device,
      table: this.#table,
      timings: { download: 0, session: 0, warmup: 0, total: 0 },
    });
  }
}

/** A streamed request, read up to where the part begins. */
export async function openPage(
  stream: MeasuredStream,
  table: TokenTable,
): Promise<{ step: Step; close: () => Promise<void> }> {
  const port = new Port(table);
  const engine = await createEngine({
    worker: () => port as unknown as Worker,
    reasoningParser: stream.formats.reasoning,
    toolParser: stream.formats.tools,
  });
  const answer = await engine.chat.completions.create({
    messages: [{ role: 'user', content: 'Write.' }],
    tools: [{ type: 'function', function: TOOL }],
    chat_template_kwargs: { enable_thinking: stream.isThinking },
    stream: true,
  });
  const chunks = answer[Symbol.asyncIterator]();
  let from = 0;
  const say = (ids: number[]) => {
    port.say({ type: 'tokens', request: 0, choice: 0, from, ids });
    from += ids.length;
  };
  const next = async (): Promise<number> => {
    const { value } = await chunks.next();
    const delta = value?.choices[0]?.delta;
    return (delta?.content ?? delta?.reasoning ?? delta?.tool_calls?.[0]?.function?.arguments ?? '').length;
  };
  // The role's chunk, and that of the call where one begins.
  await next();
  say(stream.opening.ids);
  if (stream.opening.text.startsWith('<tool_call>')) await next();
  const { words } = stream;
  return {
    step: (index) => {
      say([words[index % words.length]!.id]);
      return next();
    },
    close: () => engine.close(),
  };
}
