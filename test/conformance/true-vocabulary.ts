/** Cases in the tokens of published tokenizers. */
import { loadFormat } from '../../src/formats/index.ts';
import { spellings } from '../../src/parser/format.ts';
import { TokenFlag, type TokenTable } from '../../src/protocol.ts';
import { buildTokenTable } from '../../worker/prompt/table.ts';
import { PromptTokenizer } from '../../worker/prompt/tokenizer.ts';
import { packageFiles } from '../unit/worker/models.ts';
import type { Case } from './case.ts';
import type { Tokens } from './replay.ts';
import { MadeVocabulary } from './vocabulary.ts';

/** A token's id, or the text of a marker that is one here though the vocabulary lacks it. */
type Piece = number | { marker: string };

export class TrueVocabulary {
  readonly #tokenizer: PromptTokenizer;
  readonly #table: TokenTable;

  /** @param name of a package with the files of a tokenizer */
  constructor(name: string) {
    const files = packageFiles(name);
    this.#tokenizer = new PromptTokenizer(files.tokenizerJson, files.tokenizerConfig);
    this.#table = buildTokenTable(this.#tokenizer, files.tokenizerJson);
  }

  has(text: string): boolean {
    return this.#tokenizer.added.ids.has(text);
  }

  /** As a model of the family writes it: its tokenizer alone says what is a token. */
  async tokenize(test: Case): Promise<Tokens> {
    const markers = (await markersOf(test)).filter((text) => this.has(text));
    return this.#tokens(test, markers, (text) => this.#tokenizer.encode(text));
  }

  /** With the markers of the case's formats as tokens, where the vocabulary lacks them. */
  async tokenizeExtended(test: Case): Promise<Tokens> {
    const markers = await markersOf(test);
    return this.#tokens(test, markers, (text) =>
      split(text, markers).flatMap(({ text: part, isMarker }): Piece[] =>
        isMarker ? [{ marker: part }] : this.#encodePlain(part),
      ),
    );
  }

  /** No added token comes of this text. */
  #encodePlain(text: string): number[] {
    const encode = (spelled: string) => this.#tokenizer.encodeSections([{ text: spelled, isToken: false }]);
    const ids = encode(text);
    if (this.#textOf(ids) === text) return ids;
    // Some tokenizers put a space before what they take for a beginning: it and a line break are a token each.
    const led = encode(`\n${text}`).slice(2);
    if (this.#textOf(led) !== text) throw new Error(`The tokenizer can't write ${JSON.stringify(text)}.`);
    return led;
  }

  #textOf(ids: readonly number[]): string {
    const { bytes, offsets } = this.#table;
    const all = ids.flatMap((id) => [...bytes.subarray(offsets[id], offsets[id + 1])]);
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(all));
  }

  #tokens(test: Case, markers: readonly string[], encode: (text: string) => Piece[]): Tokens {
    const pieces = test.request?.pieces?.flatMap(({ text, special }): Piece[] =>
      special ? [{ marker: text }] : this.#encodePlain(text),
    );
    const used = new UsedTokens(this.#table);
    for (const marker of markers) used.idOf({ marker });
    return {
      ids: (pieces ?? encode(test.output)).map((piece) => used.idOf(piece)),
      prompt: encode(test.prompt_tail ?? '').map((piece) => used.idOf(piece)),
      table: used.table,
    };
  }
}

/** A vocabulary of just the tokens that are used: the rest of a large one makes no difference. */
class UsedTokens {
  readonly #all: TokenTable;
  readonly #made = new MadeVocabulary();

  constructor(all: TokenTable) {
    this.#all = all;
  }

  get table(): TokenTable {
    return this.#made.table;
  }

  idOf(piece: Piece): number {
    if (typeof piece !== 'number') return this.#made.special(piece.marker);
    const { bytes, offsets, flags } = this.#all;
    const own = bytes.slice(offsets[piece], offsets[piece + 1]);
    return flags[piece]! & TokenFlag.added
      ? this.#made.special(new TextDecoder().decode(own))
      : this.#made.bytes(own);
  }
}

async function markersOf({ reasoning_parser, tool_parser }: Case): Promise<string[]> {
  const { terminals } = await loadFormat({ reasoning: reasoning_parser, tools: tool_parser });
  return Object.values(terminals)
    .filter(({ token }) => token !== 'never')
    .flatMap(spellings)
    .sort((a, b) => b.length - a.length);
}

/** Text as markers, and what stands between them. */
function split(text: string, longestFirst: readonly string[]): { text: string; isMarker: boolean }[] {
  const parts: { text: string; isMarker: boolean }[] = [];
  let plain = '';
  for (let at = 0; at <= text.length; ) {
    const marker = longestFirst.find((candidate) => text.startsWith(candidate, at));
    if (marker === undefined && at < text.length) {
      plain += text[at++]!;
      continue;
    }
    if (plain !== '') parts.push({ text: plain, isMarker: false });
    plain = '';
    if (marker === undefined) break;
    parts.push({ text: marker, isMarker: true });
    at += marker.length;
  }
  return parts;
}
