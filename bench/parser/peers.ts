/** The same streams through what people use in JavaScript today. */
import type { Peer, PeerStream } from '../peers/pipelines.mjs';
import { median, type Report, rounded } from '../report.ts';
import { BLOCK, type Costs, type Step, timed } from './costs.ts';
import { openPage } from './page-path.ts';
import { type MeasuredStream, measuredStreams, TOOL } from './streams.ts';

/** Milliseconds after which a stream is given up. */
const PATIENCE = 60_000;
/** Streams of the first 10,000 deltas, of which the first only lets the engine compile. */
const SHORT_RUNS = 12;
const SHORT = 10_000;

/** The compared packages; `null`, and a word about it, where they are not installed. */
export async function loadPeers(): Promise<readonly Peer[] | null> {
  try {
    return (await import('../peers/pipelines.mjs')).peers;
  } catch (error) {
    const isMissing =
      error instanceof Error && /['"](ai|@browser-ai\/transformers-js)['"]/.test(error.message);
    if (!isMissing) throw error;
    console.error('Nothing to compare with is installed; npm ci --prefix bench/peers does that.');
    return null;
  }
}

/** Reads parts until one brings text. */
async function textOf(stream: PeerStream): Promise<number> {
  for (;;) {
    const part = await stream.next();
    if (!part) throw new Error('The stream ended.');
    if (part.delta) return part.delta.length;
  }
}

async function peerStep(peer: Peer, { opening, words, isThinking }: MeasuredStream): Promise<Step> {
  const stream = await peer.open({ tools: [TOOL], startsInReasoning: false });
  if (isThinking) {
    // The line break behind the marker is text to it.
    stream.push(opening.text);
    await textOf(stream);
  } else if (opening.text !== '') {
    stream.push(opening.text);
    // The name and what has come of the arguments.
    await textOf(stream);
  }
  return (index) => {
    stream.push(words[index % words.length]!.text);
    return textOf(stream);
  };
}

/** Costs of the whole way from a worker's message to the caller, side by side. */
export async function comparedCosts(peers: readonly Peer[], deltas: number): Promise<Report> {
  const { streams, table } = measuredStreams();
  const rows: Report['rows'] = [];
  for (const stream of streams) {
    const own = async (count: number) => {
      const { step, close } = await openPage(stream, table);
      const costs = await timed(step, stream, count, PATIENCE);
      await close();
      return costs;
    };
    rows.push(await row(stream, 'Tokenprism', own, deltas));
    for (const peer of peers) {
      if (stream.name === 'XML arguments' || (stream.name.endsWith('arguments') && !peer.readsCalls))
        continue;
      const other = async (count: number) => timed(await peerStep(peer, stream), stream, count, PATIENCE);
      rows.push(await row(stream, peer.name, other, deltas));
    }
  }
  return {
    title: "From the worker's message to the caller, µs a delta, the same text in the same pieces",
    rows,
    notes: [
      'The AI SDK: its extractReasoningMiddleware behind a model that streams text; @browser-ai/transformers-js: its model with that middleware, its worker replaced by one that says the text.',
      'Neither reads calls in XML, and the AI SDK none at all.',
    ],
  };
}

async function row(
  { name }: MeasuredStream,
  what: string,
  measure: (deltas: number) => Promise<Costs>,
  deltas: number,
): Promise<Report['rows'][number]> {
  const short: Costs[] = [];
  for (let run = 0; run < SHORT_RUNS; run++) short.push(await measure(Math.min(deltas, SHORT)));
  const long = deltas > SHORT ? await measure(deltas) : [];
  const at = (runs: readonly Costs[], position: number) => {
    if (position > deltas) return '';
    const end = position / BLOCK;
    const reached = runs.filter((costs) => costs.length >= end);
    if (reached.length === 0) return `given up at ${BLOCK * runs[0]!.length}`;
    return rounded(
      median(reached.flatMap((costs) => costs.slice(Math.min(end - 4, Math.floor(0.8 * end)), end))),
    );
  };
  return {
    stream: name,
    'split by': what,
    'at 1k': at(short.slice(1), 1000),
    'at 10k': at(short.slice(1), SHORT),
    'at 100k': at([long], 100_000),
  };
}
