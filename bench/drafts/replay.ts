import type { Reading } from '../../test/unit/engine/conversations.ts';
import { Copies } from '../../worker/drafts/copies.ts';
import { type Costs, freely } from '../../worker/drafts/drafter.ts';
import { Drafts } from '../../worker/drafts/drafts.ts';
import { type Report, rounded } from '../report.ts';

/** Knows no answers but those that the prompt has. */
export class OfPrompt extends Drafts {
  override remember(): void {}
}

/** A pass costs 1, and every token more so much. */
export const costsOf = (share: number): Costs => ({
  pass: () => {},
  chosen: () => {},
  of: (tokens) => 1 + share * (tokens - 1),
});

/** Drafts what may follow `written`, which was written so far. */
type DraftNext = (written: readonly number[]) => number[];

/**
 * What passes over written answers would cost, were they written again with other drafts: no model runs, and no grammar
 * forces anything. Each pass takes the tokens that were drafted right, and one more.
 */
export function costsOfReplay(readings: readonly Reading[]): Report {
  const rows: Report['rows'] = [];
  for (const share of [0.02, 0.1, 0.3, 0.5, 0.8]) {
    const costs = costsOf(share);
    const of = (begin: (reading: Reading) => DraftNext, end?: (reading: Reading) => void) =>
      replay(readings, costs, begin, end);
    const [all, prompt] = [new Drafts(costs), new OfPrompt(costs)];
    const remembered = of(
      (reading) => weighed(all, reading),
      (reading) => {
        all.remember(Uint32Array.from(reading.promptIds), reading.written);
      },
    );
    const alone = of((reading) => weighed(prompt, reading));
    const fixed = of(fourAtOnce);
    rows.push({
      'a token more costs': share,
      'tokens a pass': remembered.tokensOfPass,
      time: remembered.time,
      'of the prompt alone: tokens': alone.tokensOfPass,
      'its time': alone.time,
      'always four: tokens': fixed.tokensOfPass,
      'their time': fixed.time,
    });
  }
  return {
    title: 'The same answers, by what a token more costs',
    rows,
    notes: [
      'Costs and times as shares of passes over one token, without drafts and without a grammar. always four: whenever two tokens of the prompt or the answer are the same.',
    ],
  };
}

function replay(
  readings: readonly Reading[],
  costs: Costs,
  begin: (reading: Reading) => DraftNext,
  end: (reading: Reading) => void = () => {},
) {
  let [tokens, passes, time] = [0, 0, 0];
  for (const reading of readings) {
    const { written } = reading;
    const draftNext = begin(reading);
    // The first token comes with the prompt.
    for (let at = 1; at < written.length; ) {
      const draft = draftNext(written.slice(0, at));
      const wrong = draft.findIndex((id, index) => id !== written[at + index]);
      time += costs.of(1 + draft.length);
      passes++;
      at += 1 + (wrong < 0 ? draft.length : wrong);
    }
    tokens += written.length - 1;
    end(reading);
  }
  return { tokensOfPass: rounded(tokens / passes), time: rounded(time / tokens) };
}

function weighed(drafts: Drafts, { promptIds, written }: Reading): DraftNext {
  const drafter = drafts.follow(promptIds);
  let taken = 0;
  return (known) => {
    for (; taken < known.length; taken++) drafter.take(known[taken]!);
    return drafter.draft({
      unread: 1,
      room: written.length - taken - 1,
      ends: () => false,
      readsForced: false,
      ahead: freely,
    });
  };
}

function fourAtOnce({ promptIds, written }: Reading): DraftNext {
  const copies = new Copies();
  for (const id of promptIds) copies.add(id);
  let taken = 0;
  return (known) => {
    for (; taken < known.length; taken++) copies.add(known[taken]!);
    const copy = copies.find();
    const draft: number[] = [];
    while (copy && copy.length > 1 && draft.length < Math.min(4, written.length - taken - 1)) {
      const id = copies.at(copy.at + draft.length);
      if (id === null) break;
      draft.push(id);
    }
    return draft;
  };
}
