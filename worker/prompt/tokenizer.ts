import { PreTrainedTokenizer } from '@huggingface/transformers';
import { ModelLoadError } from '../../src/errors.ts';
import type { PromptSection, WrittenSection } from './outputs.ts';
import { AddedTokens } from './spellings.ts';

/** Ids of a vocabulary end below it: tables have a place for each one, and the largest vocabularies have 2^18 tokens. */
const idLimit = 2 ** 22;

/** A tokenizer of the Hub, with a way to encode text in which some spellings are not tokens. */
export class PromptTokenizer {
  readonly tokenizer: PreTrainedTokenizer;
  readonly added: AddedTokens;

  /**
   * @param tokenizerJson the content of `tokenizer.json`
   * @param tokenizerConfig the content of `tokenizer_config.json`
   * @throws ModelLoadError when they make no tokenizer
   */
  constructor(tokenizerJson: object, tokenizerConfig: object) {
    try {
      checkIds(tokenizerJson);
      this.tokenizer = new PreTrainedTokenizer(tokenizerJson, tokenizerConfig);
      this.added = new AddedTokens(this.tokenizer);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new ModelLoadError(`tokenizer.json can't be used: ${reason}.`, {
        cause,
        code: 'tokenizer_invalid',
      });
    }
  }

  /** Text to ids; added tokens are recognised. Put around it are those that the tokenizer adds, where asked for. */
  encode(text: string, addSpecialTokens = false): number[] {
    if (text === '' && !addSpecialTokens) return [];
    return this.tokenizer.encode(text, { add_special_tokens: addSpecialTokens });
  }

  /** Sections to ids: the text of a section that is no token never becomes an added one. */
  encodeSections(sections: readonly (PromptSection | WrittenSection)[]): number[] {
    const decoder = this.tokenizer._tokenizer.get_added_tokens_decoder();
    const ids: number[] = [];
    // Some added tokens take the white space beside them.
    const tokenAt = (at: number) => {
      const section = sections[at];
      const isToken = section && 'isToken' in section && section.isToken;
      return isToken ? decoder.get(this.added.ids.get(section.text)!) : undefined;
    };
    for (const [index, section] of sections.entries()) {
      if ('ids' in section) {
        for (const id of section.ids) ids.push(id);
        continue;
      }
      if (section.isToken) {
        ids.push(this.added.ids.get(section.text)!);
        continue;
      }
      let trimmed = section.text;
      if (tokenAt(index - 1)?.rstrip) trimmed = trimmed.trimStart();
      if (tokenAt(index + 1)?.lstrip) trimmed = trimmed.trimEnd();
      for (const id of this.#encodePlain(trimmed, index)) ids.push(id);
    }
    return ids;
  }

  /** Text in which no spelling is a token, as the `index`-th section of a longer one. */
  #encodePlain(text: string, index: number): number[] {
    const ids = this.#encodeSection(text, index);
    const spelled = new Set(this.added.split(text).filter((part) => this.added.protects(part)));
    const forbidden = new Set([...spelled].map((spelling) => this.added.ids.get(spelling)!));
    if (!ids.some((id) => forbidden.has(id))) return ids;
    // The vocabulary itself merges to the whole spelling: encode its first character apart.
    const pieces: string[] = [''];
    for (const part of this.added.split(text)) {
      if (!spelled.has(part)) {
        pieces[pieces.length - 1] += part;
        continue;
      }
      const first = String.fromCodePoint(part.codePointAt(0)!);
      pieces[pieces.length - 1] += first;
      pieces.push(part.slice(first.length));
    }
    const split = pieces.flatMap((piece, at) => this.#encodeSection(piece, index + at));
    if (split.some((id) => forbidden.has(id))) {
      throw new Error(
        `A spelling of ${[...spelled].join(', ')} in the text can't be kept from being a token.`,
      );
    }
    return split;
  }

  #encodeSection(text: string, index: number): number[] {
    const { normalizer, pre_tokenizer: preTokenizer, model } = this.tokenizer._tokenizer;
    const normalized = normalizer ? normalizer(text) : text;
    if (normalized === '' || !model) return [];
    const words = preTokenizer ? preTokenizer(normalized, { section_index: index }) : [normalized];
    return model(words).map((token) => {
      const id = model.tokens_to_ids.get(token) ?? model.unk_token_id;
      if (id === undefined) throw new Error(`The tokenizer has no token for ${JSON.stringify(token)}.`);
      return id;
    });
  }
}

/** Throws an error for a token whose id is none. What is no list of tokens at all, the tokenizer refuses itself. */
function checkIds(tokenizerJson: { model?: { vocab?: unknown } | null; added_tokens?: unknown }): void {
  const check = (id: unknown, content: unknown) => {
    if (
      typeof content === 'string' &&
      Number.isInteger(id) &&
      (id as number) >= 0 &&
      (id as number) < idLimit
    )
      return;
    throw new Error(
      `the token ${JSON.stringify(content)} has the id ${JSON.stringify(id)}, not an integer from 0 to ${idLimit - 1}`,
    );
  };
  const vocabulary = tokenizerJson.model?.vocab;
  if (typeof vocabulary === 'object' && vocabulary !== null && !Array.isArray(vocabulary)) {
    for (const [content, id] of Object.entries(vocabulary)) check(id, content);
  }
  const added = tokenizerJson.added_tokens;
  if (!Array.isArray(added)) return;
  for (const token of added as ({ id?: unknown; content?: unknown } | null)[])
    check(token?.id, token?.content);
}
