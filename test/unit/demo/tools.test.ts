import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { timeIn } from '../../../demo/tools/clock.ts';
import { evaluate } from '../../../demo/tools/expression.ts';
import { createDemoTools } from '../../../demo/tools/index.ts';
import { createAddNote, createMemoryNotes, type NoteStore } from '../../../demo/tools/notes.ts';
import { createSearchNotes } from '../../../demo/tools/search.ts';
import { createSetTimer, TimerList } from '../../../demo/tools/timer.ts';

const demoTools = createDemoTools({ notes: createMemoryNotes(), timers: new TimerList(), question: '' });
const context = { signal: new AbortController().signal, id: 'call-1', round: 1 };

/** What a call comes to, its error as the model is told of it. */
async function run(name: string, args: unknown): Promise<unknown> {
  try {
    return await demoTools.find((tool) => tool.name === name)!.run(args, context);
  } catch (error) {
    return { error: (error as Error).message };
  }
}

describe('the set', () => {
  test('implements every definition, in the order the model was trained on', async () => {
    const names = demoTools.map(({ name }) => name);
    expect(names).toEqual([
      'get_weather',
      'calculator',
      'get_time',
      'convert_units',
      'add_note',
      'search_notes',
      'set_timer',
    ]);
    for (const name of names) {
      // No tool takes an empty object: an error of the tool itself, not "unknown tool".
      expect(await run(name, {})).toEqual({ error: expect.stringMatching(/ must be a (text|number)$/) });
    }
  });

  test.each([
    ['a list', 'calculator', ['1 + 1'], 'the arguments must be an object'],
    ['null', 'calculator', null, 'the arguments must be an object'],
    ['a text', 'calculator', '1 + 1', 'the arguments must be an object'],
    ['a number for a text', 'get_weather', { location: 7 }, 'location must be a text'],
    ['a blank text', 'get_time', { city: '  ' }, 'city must be a text'],
  ])('refuses %s', async (_, name, args, error) => {
    expect(await run(name, args)).toEqual({ error });
  });
});

describe('get_weather', () => {
  test.each([
    [
      { location: 'Paris', unit: 'celsius' },
      { location: 'Paris', temperature: 18, unit: 'celsius', condition: 'cloudy' },
    ],
    [{ location: 'tokyo' }, { location: 'tokyo', temperature: 24, unit: 'celsius', condition: 'sunny' }],
    [{ location: 'Zürich' }, { location: 'Zürich', temperature: 12, unit: 'celsius', condition: 'clear' }],
    [
      { location: 'Oslo', unit: 'fahrenheit' },
      { location: 'Oslo', temperature: 37, unit: 'fahrenheit', condition: 'snowy' },
    ],
    [{ location: 'Atlantis' }, { error: 'unknown location' }],
    [{ location: 'Paris', unit: 'kelvin' }, { error: 'unknown unit' }],
  ])('%o', async (args, result) => {
    expect(await run('get_weather', args)).toEqual(result);
  });

  test('says that its data are not live', () => {
    const remarkOf = (name: string) => demoTools.find((tool) => tool.name === name)?.remark;
    expect(remarkOf('get_weather')).toMatch(/not live/);
    expect(remarkOf('calculator')).toBeUndefined();
  });
});

describe('calculator', () => {
  test.each([
    ['23 * 19', 437],
    ['2 + 3 * 4', 14],
    ['(2 + 3) * 4', 20],
    ['10 - 3 - 2', 5],
    ['2 ^ 3 ^ 2', 512],
    ['2 ** 10', 1024],
    ['-2 ^ 2', -4],
    ['2 ^ -1', 0.5],
    ['--3', 3],
    ['7 % 4', 3],
    ['12 ÷ 4 × 2', 6],
    ['8 − 5', 3],
    ['1,234,567 + 1', 1234568],
    ['sqrt(16) + abs(-2)', 6],
    ['log(1000)', 3],
    ['.5 * 4', 2],
    ['1.5e3 / 3', 500],
    ['PI', Math.PI],
  ])('%s', (expression, value) => {
    expect(evaluate(expression)).toBeCloseTo(value, 10);
  });

  test.each([
    ['4 + 5)', 'unexpected )'],
    ['(4 + 5', 'a parenthesis is not closed'],
    ['4 +', 'the expression is not complete'],
    ['4 4', 'unexpected 4'],
    ['1,2', 'unexpected ,'],
    ['1 / 0', 'division by zero'],
    ['1 % 0', 'division by zero'],
    ['sqrt(-1)', 'the result is not a number'],
    ['10 ^ 999', 'the result is not a number'],
    ['sqrt 4', 'sqrt needs parentheses'],
    ['alert(1)', 'unexpected alert'],
    ['constructor', 'unexpected constructor'],
    ['1; 2', 'unexpected ;'],
    [`${'('.repeat(5000)}1${')'.repeat(5000)}`, 'too many parentheses'],
    [`${'2^'.repeat(5000)}1`, 'too many powers'],
  ])('refuses %s', async (expression, error) => {
    expect(await run('calculator', { expression })).toEqual({ error });
  });

  test('rounds as people read numbers', async () => {
    expect(await run('calculator', { expression: '1 / 3' })).toEqual({ result: 0.33 });
    expect(await run('calculator', { expression: '0.1 + 0.2' })).toEqual({ result: 0.3 });
    expect(await run('calculator', { expression: '1 / 3000' })).toEqual({ result: 0.000333 });
  });
});

describe('get_time', () => {
  test('is the local time of the city, summer time included', () => {
    expect(timeIn('Oslo', new Date('2026-01-15T12:05:00Z'))).toBe('13:05');
    expect(timeIn('Oslo', new Date('2026-07-15T12:05:00Z'))).toBe('14:05');
    expect(timeIn('new york', new Date('2026-01-15T04:59:00Z'))).toBe('23:59');
    expect(timeIn('東京', new Date('2026-01-15T15:00:00Z'))).toBe('00:00');
    expect(timeIn('Sao Paulo', new Date('2026-01-15T15:00:00Z'))).toBe('12:00');
  });

  test('answers under the city as it was given', async () => {
    expect(await run('get_time', { city: 'Bogotá' })).toEqual({
      city: 'Bogotá',
      time: expect.stringMatching(/^([01]\d|2[0-3]):[0-5]\d$/),
    });
    expect(await run('get_time', { city: 'Atlantis' })).toEqual({ error: 'unknown location' });
  });
});

describe('convert_units', () => {
  test.each([
    [20, 'km', 'miles', 12.43],
    [26.2, 'miles', 'km', 42.16],
    [100, 'kg', 'pounds', 220.46],
    [100, 'celsius', 'fahrenheit', 212],
    [-40, 'Fahrenheit', '°C', -40],
    [0, 'degrees celsius', 'kelvin', 273.15],
    [3, 'gallons', 'liters', 11.36],
    [90, 'minutes', 'hours', 1.5],
    [2, 'mm', 'miles', 0.00000124],
    [1, 'foot', 'inches', 12],
  ])('%d %s in %s', async (value, from_unit, to_unit, result) => {
    expect(await run('convert_units', { value, from_unit, to_unit })).toEqual({ result });
  });

  test.each([
    [{ value: 1, from_unit: 'kg', to_unit: 'miles' }, 'cannot convert kg to miles'],
    [{ value: 1, from_unit: 'parsecs', to_unit: 'miles' }, 'unknown unit parsecs'],
    [{ value: '1', from_unit: 'km', to_unit: 'miles' }, 'value must be a number'],
  ])('refuses %o', async (args, error) => {
    expect(await run('convert_units', args)).toEqual({ error });
  });
});

describe('notes', () => {
  test('are found by words of their text and tags, newest first', async () => {
    const notes = createMemoryNotes();
    const add = createAddNote(notes);
    const search = createSearchNotes(notes);
    expect(await add.run({ text: 'buy milk', tags: ['shopping'] }, context)).toEqual({ status: 'ok', id: 1 });
    expect(await add.run({ text: 'Milk the goats' }, context)).toEqual({ status: 'ok', id: 2 });
    expect(await search.run({ query: 'milk' }, context)).toEqual({ results: ['Milk the goats', 'buy milk'] });
    expect(await search.run({ query: 'shopping' }, context)).toEqual({ results: ['buy milk'] });
    expect(await search.run({ query: 'goats milk' }, context)).toEqual({ results: ['Milk the goats'] });
    expect(await search.run({ query: 'bread' }, context)).toEqual({ results: [] });
  });

  test('say so when the browser keeps none', async () => {
    const full: NoteStore = {
      all: async () => [],
      add: () => Promise.reject(new DOMException('full', 'QuotaExceededError')),
    };
    await expect(createAddNote(full).run({ text: 'x' }, context)).rejects.toThrow(
      'the browser keeps no notes',
    );
  });

  test('take only a list of texts as tags', async () => {
    await expect(createAddNote(createMemoryNotes()).run({ text: 'x', tags: 'y' }, context)).rejects.toThrow(
      'tags must be a list of texts',
    );
  });
});

describe('set_timer', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('starts a timer that ends, and tells', async () => {
    const list = new TimerList();
    const changes = vi.fn();
    list.addEventListener('change', changes);
    expect(await createSetTimer(list).run({ minutes: 10, label: 'tea' }, context)).toEqual({ status: 'ok' });
    expect(list.all()).toMatchObject([
      { label: 'tea', minutes: 10, ended: false, endsAt: Date.now() + 600_000 },
    ]);
    vi.advanceTimersByTime(599_999);
    expect(list.all()[0]!.ended).toBe(false);
    vi.advanceTimersByTime(1);
    expect(list.all()[0]!.ended).toBe(true);
    list.remove(list.all()[0]!.id);
    expect(list.all()).toEqual([]);
    expect(changes).toHaveBeenCalledTimes(3);
  });

  test.each([
    [{ minutes: 0 }, 'minutes must be a whole number'],
    [{ minutes: 1.5 }, 'minutes must be a whole number'],
    [{ minutes: 1441 }, 'the timer is too long'],
    [{ minutes: 5, label: 7 }, 'label must be a text'],
  ])('refuses %o', (args, error) => {
    const list = new TimerList();
    expect(() => createSetTimer(list).run(args, context)).toThrow(error);
    expect(list.all()).toEqual([]);
  });

  test.each([
    ['Set a timer for 5 seconds', 5, false],
    ['A 30-second timer, please', 30, false],
    ['Set a timer for 5 minutes', 5, true],
    ['First 5 seconds, then 5 minutes', 5, true],
    ['Set a timer for 15 seconds', 5, true],
    ['Wake me up later', 10, true],
  ])('of a question "%s", %d minutes: %s', async (question, minutes, starts) => {
    const list = new TimerList();
    const call = async () => createSetTimer(list, question).run({ minutes }, context);
    if (starts) expect(await call()).toEqual({ status: 'ok' });
    else await expect(call()).rejects.toThrow('timers have whole minutes, not seconds');
    expect(list.all()).toHaveLength(starts ? 1 : 0);
  });

  test('all are gone when the list is cleared', () => {
    const list = new TimerList();
    list.start(1, null);
    list.start(2, null);
    list.clear();
    expect(list.all()).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
