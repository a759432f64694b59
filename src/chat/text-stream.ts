/** Answers to raw prompts as they come, and put together. */
import { ChunkStream } from './stream.ts';
import { appendLogprobs } from './text-logprobs.ts';
import type { TextCompletion, TextCompletionChoice } from './text-types.ts';

/** The chunks of an answer to raw prompts; see {@link ChunkStream}. */
export class TextCompletionStream extends ChunkStream<TextCompletion> {}

/** Reads a stream to its end and returns the completion. Errors of the stream are thrown as they are. */
export async function collectText(chunks: AsyncIterable<TextCompletion>): Promise<TextCompletion> {
  let last: TextCompletion | null = null;
  let usage: TextCompletion['usage'];
  const choices = new Map<number, TextCompletionChoice>();
  for await (const chunk of chunks) {
    last = chunk;
    if (chunk.usage) usage = chunk.usage;
    for (const { index, text, logprobs, token_ids, finish_reason, stop_reason, ...more } of chunk.choices) {
      const choice = choices.get(index);
      if (!choice) {
        choices.set(index, {
          index,
          text,
          logprobs,
          finish_reason,
          stop_reason,
          ...(token_ids && { token_ids }),
          ...more,
        });
        continue;
      }
      choice.text += text;
      if (logprobs && choice.logprobs) appendLogprobs(choice.logprobs, logprobs);
      else choice.logprobs ??= logprobs;
      if (token_ids) choice.token_ids = [...(choice.token_ids ?? []), ...token_ids];
      choice.finish_reason ??= finish_reason;
      choice.stop_reason ??= stop_reason;
    }
  }
  const { usage: _, ...head } = last!;
  return {
    ...head,
    choices: [...choices.values()].sort((a, b) => a.index - b.index),
    ...(usage && { usage }),
  };
}
