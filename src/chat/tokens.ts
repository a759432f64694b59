/** Texts and chats as the ids that the model reads, and back: for debugging, in the shapes of vLLM's routes. */
import type { Vocabulary } from '../detokenizer/vocabulary.ts';
import type { PromptJob } from '../protocol.ts';
import { badType, badValue, booleanField, checkNumber, type Fields, isObject } from './fields.ts';
import { checkModel } from './request.ts';
import type { CompletionsHost } from './start.ts';
import type { ChatCompletionCreateParams } from './types.ts';

/** A text. */
export interface TokenizeTextParams {
  prompt: string;
  model?: string | null;
  /** What the tokenizer puts around a text, such as a token for its beginning. Default `true`. */
  add_special_tokens?: boolean | null;
  /** `true`: the answer has the tokens' texts. Default `false`. */
  return_token_strs?: boolean | null;
}

/** A chat: `messages` and whatever else its request has. */
export type TokenizeParams =
  | TokenizeTextParams
  | (ChatCompletionCreateParams & Pick<TokenizeTextParams, 'return_token_strs'>);

export interface Tokenized {
  count: number;
  /** Tokens of prompt and answer together. */
  max_model_len: number;
  tokens: number[];
  /** A part of a character is U+FFFD. */
  token_strs: string[] | null;
}

export interface DetokenizeParams {
  tokens: number[];
  model?: string | null;
}

export interface AppliedTemplate {
  prompt: string;
  tokens: number[];
}

/** The engine, seen from here. */
export interface TokensHost extends Pick<CompletionsHost, 'context' | 'prepareRequest'> {
  readonly vocabulary: Vocabulary;
  readonly contextLength: number;
  encode(job: PromptJob): Promise<{ promptTokenIds: Uint32Array; prompt: string }>;
}

const textFields = ['prompt', 'model', 'add_special_tokens', 'return_token_strs'];

export class Tokens {
  readonly #host: TokensHost;

  constructor(host: TokensHost) {
    this.#host = host;
  }

  /** Rejects with a `BadRequestError` that names the field. */
  async tokenize(body: TokenizeParams): Promise<Tokenized> {
    if (!isObject(body)) throw badType('body', 'an object with a prompt or messages', body);
    const given: Fields = body;
    const withTexts = booleanField(given, 'return_token_strs', false);
    const ids = 'messages' in given ? await this.#chat(given) : await this.#text(given);
    return {
      count: ids.length,
      max_model_len: this.#host.contextLength,
      tokens: ids,
      token_strs: withTexts ? ids.map((id) => this.#host.vocabulary.text(id)) : null,
    };
  }

  /** Rejects with a `BadRequestError` that names the field. */
  async detokenize(body: DetokenizeParams): Promise<{ prompt: string }> {
    if (!isObject(body)) throw badType('body', 'an object with tokens', body);
    const given: Fields = body;
    checkFields(given, ['tokens', 'model']);
    checkModel(given.model, this.#host.context.modelId);
    return {
      prompt: textOf(readIds(given.tokens, 'tokens', this.#host.vocabulary.size), this.#host.vocabulary),
    };
  }

  /** Rejects with the `BadRequestError` of the chat request. */
  async applyChatTemplate(body: ChatCompletionCreateParams): Promise<AppliedTemplate> {
    const { job } = this.#host.prepareRequest(body, this.#host.context);
    const { promptTokenIds, prompt } = await this.#host.encode(job);
    return { prompt, tokens: Array.from(promptTokenIds) };
  }

  async #chat({ return_token_strs: _, ...body }: Fields): Promise<number[]> {
    const { job } = this.#host.prepareRequest(body, this.#host.context);
    return Array.from((await this.#host.encode(job)).promptTokenIds);
  }

  async #text(body: Fields): Promise<number[]> {
    checkFields(body, textFields);
    checkModel(body.model, this.#host.context.modelId);
    const { prompt: text } = body;
    if (typeof text !== 'string') throw badType('prompt', 'a string', text);
    const prompt = { text, addSpecialTokens: booleanField(body, 'add_special_tokens', true) };
    const { promptTokenIds } = await this.#host.encode({
      messages: [],
      tools: null,
      templateArguments: {},
      prompt,
    });
    return Array.from(promptTokenIds);
  }
}

/** Refuses what is not among `known`, by its name. */
export function checkFields(body: Fields, known: readonly string[]): void {
  for (const [name, value] of Object.entries(body)) {
    if (known.includes(name) || value === undefined || value === null) continue;
    throw badValue(name, `'${name}' is not a field that is known here; remove it.`, 'unsupported_parameter');
  }
}

/** An array of ids of the vocabulary. */
export function readIds(value: unknown, path: string, vocabularySize: number): number[] {
  if (!Array.isArray(value)) throw badType(path, 'an array of token ids', value);
  return Array.from(value, (id, index) =>
    checkNumber(id, `${path}[${index}]`, { min: 0, max: vocabularySize - 1, integer: true }),
  );
}

/** The text of ids, control tokens included. */
export function textOf(ids: ArrayLike<number>, vocabulary: Vocabulary): string {
  const detokenizer = vocabulary.createDetokenizer();
  let text = '';
  for (const id of Array.from(ids)) text += detokenizer.push(id);
  return text + detokenizer.flush();
}
