/** One round through the AI SDK: OpenAI's messages in its form, and the parts of its stream as chunks again. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  jsonSchema,
  type LanguageModelUsage,
  type ModelMessage,
  streamText,
  type ToolChoice,
  tool,
} from 'ai';
import type {
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
  CompletionUsage,
  Engine,
  ServedChunk,
} from '../../src/index.ts';
import type { Ask } from './clients.ts';

type Delta = ServedChunk['choices'][number]['delta'];
type FinishReason = ServedChunk['choices'][number]['finish_reason'];

export function createAsk(engine: Engine, baseURL: string): Ask {
  const provider = createOpenAICompatible({
    name: 'engine',
    baseURL,
    fetch: engine.fetch,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });
  return async function* (body, signal) {
    const { messages, tools, tool_choice, max_tokens, seed, chat_template_kwargs, include_details } = body;
    const { fullStream } = streamText({
      model: provider(engine.state.model.id),
      messages: modelMessages(messages),
      tools: Object.fromEntries(
        functionsOf(tools ?? []).map(({ name, description, parameters, strict }) => [
          name,
          tool({ description, inputSchema: jsonSchema(parameters ?? {}), ...(strict && { strict }) }),
        ]),
      ),
      toolChoice: toolChoice(tool_choice),
      maxOutputTokens: max_tokens ?? undefined,
      seed: seed ?? undefined,
      // What the SDK has no setting for goes into the body as it is.
      providerOptions: {
        engine: { chat_template_kwargs: chat_template_kwargs ?? {}, include_details } as never,
      },
      // Of the raw chunks: what the SDK does not tell, the details and a call that was cut.
      includeRawChunks: true,
      maxRetries: 0,
      abortSignal: signal ?? undefined,
      onError: () => {},
    });
    yield* chunks(fullStream);
  };
}

async function* chunks(stream: ReturnType<typeof streamText>['fullStream']): AsyncGenerator<ServedChunk> {
  let raw: ServedChunk | null = null;
  let cut: ServedChunk['choices'][number]['incomplete_tool_calls'];
  const calls: string[] = [];
  const chunk = (delta: Delta, finish_reason: FinishReason = null): ServedChunk => {
    if (!raw) throw new Error('The AI SDK tells of an answer before its first chunk.');
    const incomplete_tool_calls = finish_reason === null ? undefined : cut;
    return { ...raw, usage: null, choices: [{ index: 0, delta, finish_reason, incomplete_tool_calls }] };
  };
  for await (const part of stream) {
    switch (part.type) {
      case 'raw':
        raw = part.rawValue as ServedChunk;
        cut = raw.choices?.[0]?.incomplete_tool_calls ?? cut;
        break;
      case 'reasoning-delta':
        yield chunk({ reasoning: part.text });
        break;
      case 'text-delta':
        yield chunk({ content: part.text });
        break;
      case 'tool-input-start': {
        const called = { name: part.toolName, arguments: '' };
        yield chunk({
          tool_calls: [{ index: calls.length, id: part.id, type: 'function', function: called }],
        });
        calls.push(part.id);
        break;
      }
      case 'tool-input-delta':
        yield chunk({
          tool_calls: [{ index: calls.indexOf(part.id), function: { arguments: part.delta } }],
        });
        break;
      case 'finish':
        yield chunk({}, part.finishReason.replace('-', '_') as FinishReason);
        yield { ...raw!, choices: [], usage: usageOf(part.totalUsage) };
        break;
      case 'error':
        throw part.error;
      case 'abort':
        throw new DOMException('The request was aborted.', 'AbortError');
    }
  }
}

function usageOf(usage: LanguageModelUsage): CompletionUsage {
  const { inputTokens = 0, outputTokens = 0, totalTokens = inputTokens + outputTokens } = usage;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: totalTokens,
    prompt_tokens_details: { cached_tokens: usage.inputTokenDetails.cacheReadTokens ?? 0 },
    completion_tokens_details: { reasoning_tokens: usage.outputTokenDetails.reasoningTokens ?? 0 },
  };
}

function toolChoice(
  choice: ChatCompletionCreateParamsStreaming['tool_choice'],
): ToolChoice<never> | undefined {
  if (choice === undefined || choice === null) return undefined;
  if (typeof choice === 'string') return choice;
  if (choice.type === 'function') return { type: 'tool', toolName: choice.function.name as never };
  throw new Error(`The AI SDK has no tool choice ${JSON.stringify(choice)}.`);
}

function modelMessages(messages: readonly ChatCompletionMessageParam[]): ModelMessage[] {
  const names = new Map<string, string>();
  return messages.map((message): ModelMessage => {
    switch (message.role) {
      case 'assistant': {
        const { content, reasoning, tool_calls } = message;
        const calls = functionsOf(tool_calls ?? []);
        for (const { id, name } of calls) names.set(id, name);
        return {
          role: 'assistant',
          content: [
            ...(reasoning ? [{ type: 'reasoning' as const, text: reasoning }] : []),
            ...(content ? [{ type: 'text' as const, text: textOf(content) }] : []),
            ...calls.map(({ id, name, arguments: input }) => ({
              type: 'tool-call' as const,
              toolCallId: id,
              toolName: name,
              input,
            })),
          ],
        };
      }
      case 'tool': {
        const toolCallId = message.tool_call_id;
        const output = { type: 'text' as const, value: textOf(message.content) };
        const toolName = names.get(toolCallId) ?? '';
        return { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] };
      }
      case 'user':
        return { role: 'user', content: textOf(message.content) };
      default:
        return { role: 'system', content: textOf(message.content) };
    }
  });
}

/** Tools and calls of other kinds are none that the demo has. */
function functionsOf<Kind extends { type: string }>(
  given: readonly Kind[],
): (Extract<Kind, { function: unknown }>['function'] & Omit<Kind, 'function'>)[] {
  return given.flatMap((one) => {
    if (!('function' in one)) return [];
    const { function: called, ...rest } = one as Extract<Kind, { function: object }>;
    return [{ ...rest, ...called }];
  }) as never;
}

function textOf(content: ChatCompletionMessageParam['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => ('text' in part ? part.text : '')).join('\n');
}
