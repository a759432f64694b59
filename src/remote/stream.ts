import { ChatCompletionStream, ChunkQueue } from '../chat/stream.ts';
import type { ChatCompletionChunk } from '../chat/types.ts';

/**
 * A stream of what `source` brings, read ahead of its reader. It fails as `source` does.
 *
 * @param controller ends `source` when it aborts; the stream has it
 */
export function streamOf(
  source: AsyncIterable<readonly ChatCompletionChunk[]>,
  controller: AbortController,
): ChatCompletionStream {
  const queue = new ChunkQueue();
  void (async () => {
    try {
      for await (const chunks of source) queue.push(chunks);
      queue.end();
    } catch (error) {
      queue.fail(error);
    }
  })();
  return new ChatCompletionStream(queue, controller);
}
