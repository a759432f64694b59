/**
 * The engine as the agent loop knows it, through an official client: what is asked goes out as the client's request
 * over `engine.fetch`, and what the client makes of the answer comes back as chunks.
 */
import type {
  ChatCompletionChunk,
  ChatCompletionCreateParamsStreaming,
  Engine,
  ServedChunk,
  ToolRunEngine,
} from '../../src/index.ts';

/** `openai`: OpenAI's; `ai-sdk`: the AI SDK with its provider for OpenAI-compatible servers. */
export type ClientName = 'openai' | 'ai-sdk';

/** Only its path counts. */
const baseURL = 'http://engine/v1';

export async function throughClient(engine: Engine, client: ClientName): Promise<ToolRunEngine> {
  const ask = client === 'openai' ? await openai(engine) : await aiSdk(engine);
  return {
    chat: { completions: { create: async (body, options) => agentChunks(ask(body, options?.signal)) } },
  };
}

/** Chunks as they come over HTTP, of one choice. */
export type Ask = (
  body: ChatCompletionCreateParamsStreaming,
  signal: AbortSignal | null | undefined,
) => AsyncIterable<ServedChunk>;

async function openai(engine: Engine): Promise<Ask> {
  const { default: OpenAI } = await import('openai');
  const client = new OpenAI({
    baseURL,
    apiKey: '-',
    fetch: engine.fetch,
    maxRetries: 0,
    dangerouslyAllowBrowser: true,
  });
  return async function* (body, signal) {
    // The client's types know OpenAI's fields only; it passes on what it does not know, both ways.
    const request = { ...body, model: engine.state.model.id } as never;
    const stream: unknown = await client.chat.completions.create(request, { signal });
    yield* stream as AsyncIterable<ServedChunk>;
  };
}

async function aiSdk(engine: Engine): Promise<Ask> {
  const { createAsk } = await import('./ai-sdk.ts');
  return createAsk(engine, baseURL);
}

/**
 * The same as the engine's own chunks: a cut call, which over HTTP stands on the choice, is a delta, whose index is told.
 */
async function* agentChunks(served: AsyncIterable<ServedChunk>): AsyncGenerator<ChatCompletionChunk> {
  let calls = 0;
  for await (const chunk of served) {
    const choices = chunk.choices.map(({ incomplete_tool_calls: cut, ...choice }) => {
      const { tool_calls: whole = [], ...delta } = choice.delta;
      calls += whole.length;
      if (!cut) return choice;
      const tool_calls = [...whole, ...cut.map((call, index) => ({ ...call, index: calls + index }))];
      const incomplete_tool_calls = cut.map((_, index) => calls + index);
      return { ...choice, delta: { ...delta, tool_calls }, incomplete_tool_calls };
    });
    yield { ...chunk, choices };
  }
}
