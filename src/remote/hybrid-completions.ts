import { badType, isObject } from '../chat/fields.ts';
import { ChatCompletionStream, queued } from '../chat/stream.ts';
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionCreateParams,
  RequestOptions,
} from '../chat/types.ts';
import { BadRequestError, type TokenprismError } from '../errors.ts';
import type { RemoteCreate, RemoteCreateParams } from './completions.ts';
import { type HybridCore, named } from './hybrid.ts';
import type { EngineSide } from './policy.ts';

/** `chat.completions` of a hybrid engine. */
export class HybridCompletions {
  readonly #core: HybridCore;

  constructor(core: HybridCore) {
    this.#core = core;
  }

  /**
   * Answers a chat with the engine that the policy chooses. Until the answer's first text or call has come, the policy
   * may give the request to the other engine; then it resolves to the stream, or once all has come to the completion.
   *
   * Rejects as the engine does that was asked last.
   */
  readonly create = (async (
    body: RemoteCreateParams,
    options: RequestOptions = {},
  ): Promise<ChatCompletion | ChatCompletionStream> => {
    this.#core.checkOpen();
    if (!isObject(body)) throw badType('body', 'an object with messages', body);
    const side = await this.#choose(body, null);
    try {
      return await this.#answer(side!, body, options);
    } catch (thrown) {
      const error = named(thrown);
      if (options.signal?.aborted) throw error;
      this.#core.checkOpen();
      const other = await this.#choose(body, { side: side!, error });
      if (other === null || other === side) throw error;
      return this.#answer(other, body, options);
    }
  }) as RemoteCreate;

  async #choose(
    body: ChatCompletionCreateParams,
    failed: { side: EngineSide; error: TokenprismError } | null,
  ): Promise<EngineSide | null> {
    const { local, localError, remote } = this.#core.state;
    const side = await this.#core.choose({ body, local, localError, remote, failed });
    if (side === 'remote' || (side === 'local' && this.#core.local) || (side === null && failed)) return side;
    if (side === 'local') {
      throw (
        localError ??
        new BadRequestError("The policy chose the local engine, and there is none yet: choose 'remote'.", {
          param: 'choose',
          code: 'invalid_value',
        })
      );
    }
    throw new BadRequestError(
      `The policy must choose 'local' or 'remote'${failed ? ', or null' : ''}; it chose ${JSON.stringify(side)}.`,
      { param: 'choose', code: 'invalid_value' },
    );
  }

  async #answer(
    side: EngineSide,
    body: RemoteCreateParams,
    options: RequestOptions,
  ): Promise<ChatCompletion | ChatCompletionStream> {
    const { local, remote } = this.#core;
    const { completions } = (side === 'local' ? local! : remote).chat;
    // Each engine knows its own model by its own name.
    const request = { ...body };
    const ownNames = [local?.state.model.id, remote.state.model.id];
    const own = side === 'local' ? ownNames[0] : ownNames[1];
    if (request.model !== own && ownNames.includes(request.model ?? undefined)) delete request.model;
    const answer = await completions.create(request as RemoteCreateParams, options);
    return answer instanceof ChatCompletionStream ? begun(answer) : answer;
  }
}

/** The stream, once it has more to tell than that it has begun; rejects with what ends it before. */
async function begun(stream: ChatCompletionStream): Promise<ChatCompletionStream> {
  const iterator = stream[Symbol.asyncIterator]();
  const early: ChatCompletionChunk[] = [];
  let next = await iterator.next();
  while (!next.done) {
    early.push(next.value);
    if (!isBlank(next.value)) break;
    next = await iterator.next();
  }
  const rest = {
    [Symbol.asyncIterator]: () => iterator,
  };
  const chunks = (async function* () {
    yield early;
    for await (const chunk of rest) yield [chunk];
  })();
  return new ChatCompletionStream(queued(chunks), stream.controller);
}

/** Tells nothing but roles. */
const isBlank = ({ choices, usage }: ChatCompletionChunk) =>
  !usage &&
  choices.every(
    ({ delta, finish_reason: finish }) =>
      finish === null && !delta.content && !delta.reasoning && !delta.reasoning_content && !delta.tool_calls,
  );
