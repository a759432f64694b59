import { describe, expect, it } from 'vitest';
import { noEdits } from '../../../worker/backends/onnx/edits.ts';
import { attempts, type Outcome, waysDown } from '../../../worker/backends/onnx/ladder.ts';

const whole = {
  ...noEdits(''),
  rows: 'rows',
  lengths: { last: 'last', total: 'total' },
  sharesCache: true,
};

describe('the ways to run a decode step', () => {
  it('are those that the graph is made for', () => {
    expect(waysDown(whole, 'captured')).toEqual(['captured', 'static', 'growing']);
    expect(waysDown(whole, 'static')).toEqual(['static', 'growing']);
    expect(waysDown(whole, 'growing')).toEqual(['growing']);
    expect(waysDown({ ...whole, lengths: null }, 'captured')).toEqual(['static', 'growing']);
    expect(waysDown({ ...whole, rows: null }, 'captured')).toEqual(['static', 'growing']);
    expect(waysDown({ ...whole, sharesCache: false }, 'captured')).toEqual(['growing']);
  });

  it.each<[string, Outcome[], string]>([
    ['a session that is refused costs no subgroups', ['refused'], 'captured+ static+'],
    [
      'wrong numbers are first laid to the subgroups, then to the way',
      ['wrong with subgroups', 'wrong', 'wrong'],
      'captured+ captured static growing',
    ],
    ['without subgroups, to the way at once', ['wrong', 'wrong'], 'captured+ static+ growing+'],
    ['at the end there is nothing left', ['wrong', 'wrong', 'wrong'], 'captured+ static+ growing+ none'],
  ])('%s', (_, outcomes, expected) => {
    const ladder = attempts(waysDown(whole, 'captured'));
    const steps = [ladder.next(), ...outcomes.map((outcome) => ladder.next(outcome))];
    const names = steps.map(({ value }) => (value ? `${value.way}${value.subgroups ? '+' : ''}` : 'none'));
    expect(names.join(' ')).toBe(expected);
  });
});
