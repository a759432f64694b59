/** An output taken apart: each piece of it, what the parser made of it, and where the parser stood behind it. */
import { type ChatCompletionChunkChoice, createOutputParser, type OutputEnd } from '../../../src/index.ts';

/** Where the parser stands: what the next character would become, as far as its last event says. */
export type ParserState = 'start' | 'reasoning' | 'content' | 'call' | 'end';

export interface StepEvent {
  kind: 'reasoning' | 'content' | 'call' | 'arguments' | 'cut' | 'end';
  text: string;
}

/** A token of a model's output, or a piece of a text that was pasted. */
export interface Piece {
  /** `null` for pasted text. */
  id: number | null;
  text: string;
  /** Natural logarithms; `null` where nobody knows. */
  logprob: number | null;
  top: { text: string; logprob: number }[];
  /** Of how many tokens that a grammar let come it was taken; `null` where none held the answer, and for pasted text. */
  allowed: number | null;
  /** Milliseconds since the request, when it came; `null` for pasted text. */
  time: number | null;
}

export interface Step extends Piece {
  events: StepEvent[];
  /** Behind this piece. */
  state: ParserState;
}

export interface FormatChoice {
  reasoning: string | null;
  tools: string | null;
}

interface ParseOptions {
  format: FormatChoice;
  /** What the prompt ended with: a block of reasoning that it opened belongs to the output. */
  prompt: string;
  end: OutputEnd;
}

/**
 * Feeds the pieces one by one. A piece without events is a marker, or text that the parser holds until it knows what it
 * is.
 *
 * @throws BadRequestError for a format that there is not
 */
export async function stepsOf(
  pieces: readonly Piece[],
  { format, prompt, end }: ParseOptions,
): Promise<Step[]> {
  const parser = await createOutputParser({
    reasoningParser: format.reasoning,
    toolParser: format.tools,
    prompt: { text: prompt },
  });
  const steps: Step[] = [];
  let state: ParserState = 'start';
  const take = (piece: Piece, choices: ChatCompletionChunkChoice[]) => {
    const events = choices.flatMap(eventsOf);
    for (const { kind } of events) state = stateBehind[kind] ?? state;
    steps.push({ ...piece, events, state });
  };
  for (const piece of pieces) take(piece, parser.ended ? [] : parser.feed({ text: piece.text }));
  if (!parser.ended) {
    take(
      { id: null, text: '', logprob: null, top: [], allowed: null, time: pieces.at(-1)?.time ?? null },
      parser.finish(end),
    );
  }
  return steps;
}

const stateBehind: Partial<Record<StepEvent['kind'], ParserState>> = {
  reasoning: 'reasoning',
  content: 'content',
  call: 'call',
  arguments: 'call',
  end: 'end',
};

function eventsOf({ delta, finish_reason, incomplete_tool_calls }: ChatCompletionChunkChoice): StepEvent[] {
  const events: StepEvent[] = [];
  if (delta.reasoning) events.push({ kind: 'reasoning', text: delta.reasoning });
  if (delta.content) events.push({ kind: 'content', text: delta.content });
  for (const { function: called } of delta.tool_calls ?? []) {
    if (called?.name) events.push({ kind: 'call', text: called.name });
    if (called?.arguments) events.push({ kind: 'arguments', text: called.arguments });
  }
  for (const index of incomplete_tool_calls ?? []) events.push({ kind: 'cut', text: `call ${index + 1}` });
  if (finish_reason) events.push({ kind: 'end', text: finish_reason });
  return events;
}

/** How a pasted text is cut. */
export type Cutting = 'characters' | 'words';

export function piecesOf(text: string, cutting: Cutting): Piece[] {
  const parts = cutting === 'characters' ? [...text] : (text.match(/\s*[^\s<>{}"]+|\s+|[<>{}"]/g) ?? []);
  return parts.map((part) => ({ id: null, text: part, logprob: null, top: [], allowed: null, time: null }));
}
