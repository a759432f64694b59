import { describe, expect, it } from 'vitest';
import { Copies } from '../../../worker/drafts/copies.ts';
import { CopyDrafter, freely } from '../../../worker/drafts/drafter.ts';
import { HitRates } from '../../../worker/drafts/hit-rates.ts';
import { PassCosts } from '../../../worker/drafts/pass-costs.ts';

/** Measured on a device where a pass takes `first` milliseconds, and every token more `more`. */
function measured(first: number, more: number): PassCosts {
  const costs = new PassCosts();
  for (let round = 0; round < 40; round++) {
    costs.pass(1, first);
    costs.pass(2 + (round % 8), first + more * (1 + (round % 8)));
  }
  return costs;
}

const text = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

/** What is drafted behind a text that came before, whose copies came true so often lately. */
function draft(costs: PassCosts, isHit: boolean, unread = 1): number[] {
  const copies = new Copies();
  for (const id of [...text, 99, ...text.slice(0, 4)]) copies.add(id);
  const rates = new HitRates();
  for (let length = 2; length <= 32; length++) {
    for (let time = 0; time < 100; time++) rates.record(length, isHit);
  }
  const drafter = new CopyDrafter(copies, rates, costs);
  return drafter.draft({ unread, room: 100, ends: (id) => id === 9, readsForced: false, ahead: freely });
}

describe('costs of passes', () => {
  it('come near to what was measured', () => {
    const costs = measured(10, 2);
    expect(costs.of(1)).toBeCloseTo(10, 6);
    for (const tokens of [2, 5, 9]) expect(costs.of(tokens) / (10 + 2 * (tokens - 1))).toBeCloseTo(1, 1);
    costs.chosen(3);
    expect(costs.of(1, 4)).toBeCloseTo(22, 6);
  });

  it('are not thrown over by one pass that took long, and follow many', () => {
    const costs = measured(10, 1);
    const before = costs.of(5);
    costs.pass(5, 100_000);
    expect(costs.of(5)).toBeLessThan(2 * before);
    for (let time = 0; time < 100; time++) costs.pass(5, 100);
    expect(costs.of(5)).toBeGreaterThan(90);
  });

  it('are forgotten with time, so that drafting is tried again', () => {
    const costs = measured(10, 10);
    expect(draft(costs, false)).toEqual([]);
    expect(costs.of(8)).toBeGreaterThan(70);
    for (let time = 0; time < 400; time++) costs.pass(1, 10);
    expect(costs.of(8)).toBeLessThan(20);
  });
});

describe('drafts', () => {
  it('are as long as they pay, and end before the end of an answer', () => {
    expect(draft(new PassCosts(), true)).toEqual([5, 6, 7, 8]);
    expect(draft(measured(10, 0.5), true)).toEqual([5, 6, 7, 8]);
  });

  it('rest where copies do not come true, or where tokens cost as much as passes', () => {
    expect(draft(measured(10, 0.5), false)).toEqual([]);
    expect(draft(measured(10, 11), true)).toEqual([]);
    expect(draft(measured(10, 0.5), true, 3)).toEqual([5, 6, 7, 8]);
  });

  it('begin again as soon as copies come true', () => {
    const copies = new Copies();
    for (const id of text) copies.add(id);
    const rates = new HitRates();
    for (let length = 2; length <= 32; length++) {
      for (let time = 0; time < 100; time++) rates.record(length, false);
    }
    const drafter = new CopyDrafter(copies, rates, measured(10, 1));
    expect(drafter.isHopeful).toBe(false);
    let passes = 0;
    for (; passes < 1000 && !drafter.isHopeful; passes++) drafter.take(text[passes % text.length]!);
    expect(drafter.isHopeful).toBe(true);
    expect(passes).toBeLessThan(100);
  });
});
