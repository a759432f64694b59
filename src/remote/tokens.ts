import { badType, isObject } from '../chat/fields.ts';
import type { DetokenizeParams, Tokenized, TokenizeParams } from '../chat/tokens.ts';
import { RemoteServerError } from '../errors.ts';
import type { RemoteHost } from './ask.ts';
import { excerpt } from './failures.ts';
import { setFields } from './request-fields.ts';
import { messagesOf } from './server-parse.ts';

/** Texts and chats as token ids and back, by vLLM's routes beside its `/v1`. */
export class RemoteTokens {
  readonly #host: RemoteHost;

  constructor(host: RemoteHost) {
    this.#host = host;
  }

  /** Rejects as the models of the engine do. */
  async tokenize(given: TokenizeParams): Promise<Tokenized> {
    if (!isObject(given)) throw badType('body', 'an object with a prompt or messages', given);
    const body = setFields(given);
    const answer = await this.#ask(
      '/tokenize',
      body.messages === undefined ? body : { ...body, messages: messagesOf(body.messages, false) },
    );
    const { tokens, count, max_model_len: length, token_strs: texts } = answer;
    if (!Array.isArray(tokens) || typeof count !== 'number') throw notThat('/tokenize', answer);
    return {
      count,
      max_model_len: typeof length === 'number' ? length : 0,
      tokens: tokens as number[],
      token_strs: Array.isArray(texts) ? (texts as string[]) : null,
    };
  }

  /** Rejects as the models of the engine do. */
  async detokenize(given: DetokenizeParams): Promise<{ prompt: string }> {
    if (!isObject(given)) throw badType('body', 'an object with tokens', given);
    const answer = await this.#ask('/detokenize', setFields(given));
    if (typeof answer.prompt !== 'string') throw notThat('/detokenize', answer);
    return { prompt: answer.prompt };
  }

  async #ask(path: string, body: Record<string, unknown>): Promise<Record<string, unknown>> {
    const { server, closing } = this.#host;
    const model = await this.#host.modelOf(body, closing);
    return server.json(path, closing, { body: { ...body, model }, isBeside: true });
  }
}

const notThat = (path: string, answer: unknown) =>
  new RemoteServerError(`The server answered ${path} in a form that is not vLLM's: ${excerpt(answer)}`, {
    code: 'invalid_answer',
  });
