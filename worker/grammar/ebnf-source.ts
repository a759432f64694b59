/** Grammars as text, in the notation of xgrammar: what of it is a name, what a literal. */

export interface EbnfPiece {
  kind: 'string' | 'class' | 'name' | 'comment' | 'space' | 'sign';
  text: string;
  /** Offset in the source. */
  at: number;
}

const PIECE =
  /(?<string>"(?:[^"\\\n]|\\[\s\S])*")|(?<class>\[(?:[^\]\\\n]|\\[\s\S])*\])|(?<name>[A-Za-z_][\w.-]*)|(?<comment>#[^\n]*)|(?<space>\s+)|(?<sign>::=|[\s\S])/gy;

/** All of the source, in pieces. What is unfinished (a quote without its end) comes as a `sign`. */
export function* ebnfPieces(source: string): Generator<EbnfPiece> {
  PIECE.lastIndex = 0;
  for (const match of source.matchAll(PIECE)) {
    for (const [kind, text] of Object.entries(match.groups!)) {
      if (text !== undefined) yield { kind: kind as EbnfPiece['kind'], text, at: match.index };
    }
  }
}

/** Rules that a rule's body names, macros and their arguments left out. */
export function ebnfReferences(body: string): Set<string> {
  const names = new Set<string>();
  for (const { kind, text } of ebnfPieces(body)) {
    if (kind === 'name' && !MACRO_WORDS.has(text)) names.add(text);
  }
  return names;
}

const MACRO_WORDS = new Set([
  'TagDispatch',
  'stop_eos',
  'stop_str',
  'loop_after_dispatch',
  'excludes',
  'true',
  'false',
]);
