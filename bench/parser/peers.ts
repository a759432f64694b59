/** The same streams through what people use in JavaScript today. */
import type { Peer, PeerStream } from '../peers/pipelines.mjs';
import { median, type Report, rounded } from '../report.ts';
import { BLOCK, type Costs, type Step, timed } from './costs.ts';
import { openPage } from './page-path.ts';
import { type MeasuredStream, measuredStreams, TOOL } from './streams.ts';

/** Milliseconds after which a stream is given up. */
const PATIENCE = 60_000;
/** Deltas of another stream before, while the engine compiles. */
const WARM_UP = 5000;

/** The compared packages; `null` where they are not installed. */
export async function loadPeers(): Promise<readonly Peer[] | null> {
  try {
    return (await import('../peers/pipelines.mjs')).peers;
  } catch (error) {
    if (error instanceof Error && /'(ai|@browser-ai\/transformers-js)'/.test(error.message)) return null;
    throw error;
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
    await own(WARM_UP);
    rows.push(row(stream, 'Tokenprism', await own(deltas), deltas));
    for (const peer of peers) {
      if (stream.name === 'XML arguments' || (stream.name.endsWith('arguments') && !peer.readsCalls))
        continue;
      const other = async (count: number) => timed(await peerStep(peer, stream), stream, count, PATIENCE);
      await other(WARM_UP);
      rows.push(row(stream, peer.name, await other(deltas), deltas));
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

function row({ name }: MeasuredStream, what: string, costs: Costs, deltas: number): Report['rows'][number] {
  const reached = BLOCK * costs.length;
  const at = (position: number) => {
    if (position > deltas) return '';
    if (position > reached) return `given up at ${reached}`;
    const end = position / BLOCK;
    return rounded(median(costs.slice(Math.floor(0.9 * end), end)));
  };
  return { stream: name, 'split by': what, 'at 1k': at(1000), 'at 10k': at(10_000), 'at 100k': at(100_000) };
}
