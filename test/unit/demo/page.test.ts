import { describe, expect, test } from 'vitest';
import { jsonTokens, prettyJson } from '../../../demo/components/json-text.ts';
import { readRoute } from '../../../demo/routes.ts';
import { addressOf, readSettings } from '../../../demo/settings.ts';

describe('prettyJson', () => {
  test('keeps short values on one line', () => {
    expect(prettyJson('{"location":"Paris","unit":"celsius"}')).toBe(
      '{ "location": "Paris", "unit": "celsius" }',
    );
    expect(prettyJson('[]')).toBe('[]');
    expect(prettyJson('{"text":"two\\nlines"}')).toBe('{ "text": "two\\nlines" }');
  });

  test('indents long ones', () => {
    const text = 'x'.repeat(90);
    expect(prettyJson(`{"text":"${text}"}`)).toBe(`{\n  "text": "${text}"\n}`);
  });

  test('leaves alone what is not JSON', () => {
    expect(prettyJson('{"location": "Par')).toBe('{"location": "Par');
  });
});

test('jsonTokens names keys, strings and numbers, and loses nothing', () => {
  const text = '{"a": [1.5, "b: c"], "cut": "';
  const tokens = jsonTokens(text);
  expect(tokens.map((token) => token.text).join('')).toBe(text);
  expect(tokens.filter(({ kind }) => kind !== null)).toEqual([
    { kind: 'key', text: '"a"' },
    { kind: 'number', text: '1.5' },
    { kind: 'string', text: '"b: c"' },
    { kind: 'key', text: '"cut"' },
  ]);
});

test('readRoute takes the page and what follows it; what it does not know is the chat', () => {
  expect(readRoute('')).toEqual({ page: 'chat', rest: '' });
  expect(readRoute('#/inspector')).toEqual({ page: 'inspector', rest: '' });
  expect(readRoute('#/chat/a%2Fb')).toEqual({ page: 'chat', rest: 'a/b' });
  expect(readRoute('#/nowhere/at/all')).toEqual({ page: 'chat', rest: '' });
});

describe('readSettings', () => {
  test('takes device and model from the address', () => {
    expect(readSettings('https://example.org/demo/')).toEqual({ device: 'auto', model: null });
    expect(readSettings('https://example.org/?device=wasm&model=/models/mine/')).toMatchObject({
      device: 'wasm',
      model: '/models/mine/',
    });
  });

  test('are written into an address, whose rest stays', () => {
    const address = 'https://example.org/demo/?device=wasm&model=a/b&x=1#/form';
    expect(addressOf({ device: 'webgpu', model: null }, address)).toBe(
      'https://example.org/demo/?device=webgpu&x=1#/form',
    );
    const settings = { device: 'auto', model: 'a/b c' } as const;
    expect(readSettings(addressOf(settings, address))).toEqual(settings);
  });

  test('refuses a device that there is not', () => {
    expect(() => readSettings('https://example.org/?device=abacus')).toThrow(
      '?device=webgpu or ?device=wasm',
    );
  });
});
