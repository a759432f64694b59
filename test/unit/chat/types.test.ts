/** What compiles against the `openai` package's types has to compile against these, and the other way round. */
import type OpenAI from 'openai';
import { describe, expectTypeOf, it } from 'vitest';
import type { Completions } from '../../../src/chat/completions.ts';
import type { ChatCompletionStream } from '../../../src/chat/stream.ts';
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionCreateParamsBase,
  ChatCompletionMessage,
  ChatCompletionMessageParam,
} from '../../../src/chat/types.ts';

describe('types', () => {
  it('answers are answers of the openai package', () => {
    expectTypeOf<ChatCompletion>().toExtend<OpenAI.ChatCompletion>();
    expectTypeOf<ChatCompletionChunk>().toExtend<OpenAI.ChatCompletionChunk>();
    expectTypeOf<ChatCompletionMessage['reasoning']>().toEqualTypeOf<string | null>();
  });

  it('messages of the openai package, and answers of the engine, can be sent', () => {
    expectTypeOf<OpenAI.ChatCompletionMessageParam>().toExtend<ChatCompletionMessageParam>();
    expectTypeOf<ChatCompletionMessage>().toExtend<ChatCompletionMessageParam>();
  });

  it('request bodies of the openai package can be sent', () => {
    expectTypeOf<OpenAI.ChatCompletionCreateParamsNonStreaming>().toExtend<ChatCompletionCreateParamsBase>();
  });

  it('the result follows from stream', () => {
    const check = (completions: Completions, messages: ChatCompletionMessageParam[], stream: boolean) => {
      expectTypeOf(completions.create({ messages })).resolves.toEqualTypeOf<ChatCompletion>();
      expectTypeOf(
        completions.create({ messages, stream: true }),
      ).resolves.toEqualTypeOf<ChatCompletionStream>();
      expectTypeOf(completions.create({ messages, stream })).resolves.toEqualTypeOf<
        ChatCompletion | ChatCompletionStream
      >();
    };
    expectTypeOf(check).toBeFunction();
  });
});
