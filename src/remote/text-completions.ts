import type { Create } from '../chat/create.ts';
import { badType, badValue, isObject } from '../chat/fields.ts';
import { collectText, TextCompletionStream } from '../chat/text-stream.ts';
import type {
  TextCompletion,
  TextCompletionCreateParamsNonStreaming,
  TextCompletionCreateParamsStreaming,
} from '../chat/text-types.ts';
import type { RequestOptions } from '../chat/types.ts';
import { ask, type RemoteHost } from './ask.ts';
import type { ServerFields } from './completions.ts';
import type { RemoteRequest } from './dialect.ts';
import { RawTextAnswer } from './raw-text-answer.ts';
import { readAnswerFields } from './request-fields.ts';

export type RemoteTextCreateParamsStreaming = TextCompletionCreateParamsStreaming & ServerFields;
export type RemoteTextCreateParamsNonStreaming = TextCompletionCreateParamsNonStreaming & ServerFields;
export type RemoteTextCreateParams = RemoteTextCreateParamsStreaming | RemoteTextCreateParamsNonStreaming;

/** `completions` of a remote engine: the server's own, its fields passed on as they are. */
export class RemoteTextCompletions {
  readonly #host: RemoteHost;

  constructor(host: RemoteHost) {
    this.#host = host;
  }

  /** Goes on with a prompt, or with each of several. Resolves and rejects as `chat.completions.create` does. */
  readonly create = (async (
    body: RemoteTextCreateParams,
    options: RequestOptions = {},
  ): Promise<TextCompletion | TextCompletionStream> => {
    const { isStreamed, chunks, controller } = await ask(this.#host, options, async (signal) => {
      // What is wrong with it is said before the server is asked for its model.
      const request = prepareText(body);
      return { ...request, body: { ...request.body, model: await this.#host.modelOf(body, signal) } };
    });
    const stream = new TextCompletionStream(chunks, controller);
    return isStreamed ? stream : collectText(stream);
  }) as Create<
    RemoteTextCreateParamsNonStreaming,
    RemoteTextCreateParamsStreaming,
    TextCompletion,
    TextCompletionStream
  >;
}

function prepareText(given: unknown): RemoteRequest<TextCompletion> {
  if (!isObject(given)) throw badType('body', 'an object with a prompt', given);
  const { body, choices, stream, includeUsage } = readAnswerFields(given);
  const options = isObject(body.stream_options) ? body.stream_options : {};
  return {
    path: '/completions',
    body: { ...body, stream: true, stream_options: { ...options, include_usage: true } },
    stream,
    reader: new RawTextAnswer({
      choices: choices * promptsOf(body.prompt),
      stop: [body.stop, body.stop_token_ids].flat(),
      includeUsage,
    }),
    placement: null,
  };
}

/** How many there are. */
function promptsOf(prompt: unknown): number {
  if (typeof prompt === 'string') return 1;
  if (!Array.isArray(prompt)) throw badType('prompt', 'a text, token ids, or an array of either', prompt);
  if (prompt.length === 0) throw badValue('prompt', "'prompt' is empty; give a text or ids.", 'empty_array');
  return typeof prompt[0] === 'number' ? 1 : prompt.length;
}
