import { ModelLoadError } from '../../src/errors.ts';
import { TokenFlag, type TokenTable } from '../../src/protocol.ts';
import type { PromptTokenizer } from './tokenizer.ts';

/** How token strings of a vocabulary become bytes. */
type Spelling = 'byte-level' | 'byte-fallback';

/**
 * The vocabulary as bytes.
 *
 * @param tokenizerJson the content of `tokenizer.json`, whose decoder says how tokens are spelled
 * @throws ModelLoadError when the vocabulary is of another kind, or the table does not decode as the tokenizer does
 */
export function buildTokenTable(
  tokenizer: PromptTokenizer,
  tokenizerJson: Record<string, unknown>,
): TokenTable {
  const spelling = spellingOf(tokenizerJson.decoder);
  const inner = tokenizer.tokenizer._tokenizer;
  const vocabulary = inner.model?.vocab ?? [];
  const added = inner.get_added_tokens_decoder();
  const size = vocabulary.length;
  const encoder = new TextEncoder();
  const offsets = new Uint32Array(size + 1);
  const flags = new Uint8Array(size);
  let bytes = new Uint8Array(8 * size);
  let length = 0;
  for (let id = 0; id < size; id++) {
    const addedToken = added.get(id);
    if (addedToken) flags[id] = TokenFlag.added | (addedToken.special ? TokenFlag.special : 0);
    // Ids without a token exist in some vocabularies; they have no bytes.
    const text: string | undefined = addedToken?.content ?? vocabulary[id];
    let token = new Uint8Array(0);
    if (text !== undefined) {
      const plain = addedToken ? null : plainBytes(text, spelling);
      token = plain ?? encoder.encode(text);
    }
    if (length + token.length > bytes.length) {
      const larger = new Uint8Array(2 * (length + token.length));
      larger.set(bytes);
      bytes = larger;
    }
    bytes.set(token, length);
    length += token.length;
    offsets[id + 1] = length;
  }
  const table = { bytes: bytes.slice(0, length), offsets, flags };
  checkTable(table, tokenizer);
  return table;
}

interface DecoderJson {
  type?: string;
  decoders?: DecoderJson[];
}

function spellingOf(decoder: unknown): Spelling {
  const types = new Set<string>();
  const collect = (part: DecoderJson | null | undefined) => {
    if (part?.type) types.add(part.type);
    for (const inner of part?.decoders ?? []) collect(inner);
  };
  collect(decoder as DecoderJson | null | undefined);
  if (types.has('ByteLevel')) return 'byte-level';
  if (types.has('ByteFallback') || types.has('Metaspace')) return 'byte-fallback';
  throw new ModelLoadError(
    `tokenizer.json has a decoder (${[...types].join(', ') || 'none'}) that is neither byte-level nor byte-fallback: this vocabulary is not supported.`,
    { code: 'tokenizer_unsupported' },
  );
}

/** Bytes of an ordinary token; `null` when it has characters outside of the byte-level alphabet. */
function plainBytes(text: string, spelling: Spelling): Uint8Array<ArrayBuffer> | null {
  if (spelling === 'byte-fallback') {
    const byte = /^<0x([0-9A-Fa-f]{2})>$/.exec(text);
    if (byte) return Uint8Array.of(Number.parseInt(byte[1]!, 16));
    return new TextEncoder().encode(text.replaceAll('\u2581', ' '));
  }
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) {
    const byte = byteOfCharacter.get(text.charCodeAt(index));
    if (byte === undefined) return null;
    bytes[index] = byte;
  }
  return bytes;
}

/**
 * The byte-level alphabet: printable bytes of Latin-1 stand for themselves, the others, in order, for the
 * characters from U+0100 on.
 */
const byteOfCharacter = new Map<number, number>();
for (let byte = 0, next = 0x100; byte < 256; byte++) {
  const isPrintable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xff && byte !== 0xad);
  byteOfCharacter.set(isPrintable ? byte : next++, byte);
}

const sampleSize = 1024;
const sequenceLength = 8;

/** Compares the table with the tokenizer's own decoding: single tokens over the whole range, then sequences. */
function checkTable(table: TokenTable, { tokenizer }: PromptTokenizer): void {
  const size = table.flags.length;
  const has = (id: number) => table.offsets[id + 1]! > table.offsets[id]!;
  const step = Math.max(1, Math.floor(size / sampleSize));
  const sample: number[] = [];
  for (let id = 0; id < size; id++) {
    if (has(id) && (id % step === 0 || table.flags[id] !== 0)) sample.push(id);
  }
  const check = (ids: number[]) => {
    const bytes = ids.flatMap((id) => [...table.bytes.subarray(table.offsets[id]!, table.offsets[id + 1]!)]);
    const ours = comparable(new TextDecoder().decode(Uint8Array.from(bytes)));
    const theirs = comparable(
      tokenizer.decode(ids, { skip_special_tokens: false, clean_up_tokenization_spaces: false }),
    );
    if (ours === theirs || ours === ` ${theirs}`) return;
    throw new ModelLoadError(
      `The token table does not decode as tokenizer.json does (tokens ${ids.join(', ')}: ${JSON.stringify(ours)} and ${JSON.stringify(theirs)}): this vocabulary is not supported.`,
      { code: 'tokenizer_unsupported' },
    );
  };
  for (const id of sample) check([id]);
  const plain = sample.filter((id) => table.flags[id] === 0);
  for (let start = 0; start + sequenceLength <= plain.length; start += 4 * sequenceLength) {
    // A stride that is no divisor mixes tokens from all over the vocabulary.
    check(Array.from({ length: sequenceLength }, (_, at) => plain[(start + at * 131) % plain.length]!));
  }
}

/**
 * Two differences are the decoder's, not the token's: how many replacement characters broken UTF-8 gives, and
 * that some decoders drop a space at the very start.
 */
const comparable = (text: string) => text.replace(/\ufffd+/g, '\ufffd');
