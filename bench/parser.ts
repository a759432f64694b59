/**
 * What the page pays for an answer: microseconds a one-token delta by what the token is part of and by position in
 * the stream, in Node and in Chromium; the size of the page's bundle; the same streams and the conformance cases
 * through what people use in JavaScript today.
 *
 * `--deltas N` (default 1000000) and `--rounds N` (default 3) set the length of the streams and how often each is
 * measured; `--only node|page|bundle|peers|cases` leaves the rest out. The compared packages are installed with
 * `npm ci --prefix bench/peers`.
 */

import { measureInPage } from './parser/browser.ts';
import { BLOCK, type Costs, type MeasuredCosts, measureCosts } from './parser/costs.ts';
import { measurePageBundle, PAGE_BUDGET_BYTES } from './parser/page-bundle.ts';
import { comparedCases } from './parser/peer-cases.ts';
import { comparedCosts, loadPeers } from './parser/peers.ts';
import { median, numberOption, type Report, rounded } from './report.ts';

const PARTS = ['node', 'page', 'bundle', 'peers', 'cases'];

export async function run(options: readonly string[] = []): Promise<Report[]> {
  const deltas = numberOption(options, '--deltas', 1_000_000);
  const rounds = numberOption(options, '--rounds', 3);
  const only = options.includes('--only') ? options[options.indexOf('--only') + 1] : null;
  if (only !== null && !PARTS.includes(only ?? '')) throw new Error(`--only takes ${PARTS.join(', ')}.`);
  const isWanted = (part: string) => only === null || only === part;
  const reports: Report[] = [];
  const measure = async () => {
    const measured: MeasuredCosts[][] = [];
    for (let round = 0; round < rounds; round++)
      measured.push(await measureCosts(deltas, Math.min(deltas, 100_000)));
    return measured;
  };
  if (isWanted('node')) reports.push(costsReport(`Node ${process.versions.node}`, await measure(), deltas));
  if (isWanted('page')) {
    const { version, measured } = await measureInPage(deltas, rounds);
    reports.push(costsReport(`Chromium ${version}`, measured, deltas));
  }
  if (isWanted('bundle')) reports.push(await bundleReport());
  const peers = isWanted('peers') || isWanted('cases') ? await loadPeers() : null;
  if (peers && isWanted('peers')) reports.push(await comparedCosts(peers, Math.min(deltas, 100_000)));
  if (peers && isWanted('cases')) reports.push(await comparedCases(peers));
  return reports;
}

function costsReport(where: string, rounds: readonly MeasuredCosts[][], deltas: number): Report {
  const rows: Report['rows'] = [];
  for (const [index, { stream }] of rounds[0]!.entries()) {
    for (const [part, what] of [
      ['parser', 'parser alone'],
      ['page', 'whole page path'],
    ] as const) {
      const costs = rounds.map((round) => round[index]![part]);
      rows.push({ stream, what, ...positions(costs) });
    }
  }
  return {
    title: `${where}: µs a delta of one token, ${deltas.toLocaleString('en')} deltas, medians of ${rounds.length} rounds`,
    rows,
    notes: [
      `Medians of blocks of ${BLOCK} deltas: of the first hundredth of the stream, around 100,000, and of the last hundredth.`,
      'The whole page path begins with the `tokens` message and ends with the chunk in the hands of the caller, who waits for each.',
    ],
  };
}

function positions(rounds: readonly Costs[]): Record<string, number> {
  const blocks = rounds[0]!.length;
  const hundredth = Math.max(1, Math.round(blocks / 100));
  const at = (from: number, to: number) =>
    rounded(median(rounds.map((costs) => median(costs.slice(Math.max(0, from), to)))));
  const ratio = (costs: Costs) => median(costs.slice(-hundredth)) / median(costs.slice(0, hundredth));
  const middle = Math.round(100_000 / BLOCK);
  return {
    'at 1k': at(0, hundredth),
    ...(blocks > middle + hundredth && { 'at 100k': at(middle - hundredth, middle + hundredth) }),
    'at the end': at(blocks - hundredth, blocks),
    'last/first': rounded(median(rounds.map(ratio))),
  };
}

async function bundleReport(): Promise<Report> {
  const { minified, gzip } = await measurePageBundle();
  return {
    title: 'JavaScript that a page loads at once, in bytes',
    rows: [{ minified, 'minified, gzip': gzip, budget: PAGE_BUDGET_BYTES }],
    notes: [
      'The entry of an application that streams an answer and all that it imports statically, bundled by Vite: engine, chat surface, parser, registry. The formats come when the model is known, worker and model files for themselves.',
    ],
  };
}
