import { describe, expect, test } from 'vitest';
import { readSettings } from '../../../demo/settings.ts';
import { prettyJson } from '../../../demo/view/json-text.ts';

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

describe('readSettings', () => {
  test('takes device and model from the address', () => {
    expect(readSettings('https://example.org/demo/')).toMatchObject({ device: 'auto', model: null });
    expect(readSettings('https://example.org/?device=wasm&model=/models/mine/')).toMatchObject({
      device: 'wasm',
      model: '/models/mine/',
    });
  });

  test('changes the device and keeps the rest', () => {
    const settings = readSettings('https://example.org/demo/?device=wasm&model=a/b#x');
    expect(settings.address({ device: 'webgpu' })).toBe(
      'https://example.org/demo/?device=webgpu&model=a%2Fb',
    );
    expect(settings.address({ device: 'auto' })).toBe('https://example.org/demo/?model=a%2Fb');
  });

  test('refuses a device that there is not', () => {
    expect(() => readSettings('https://example.org/?device=abacus')).toThrow(
      '?device=webgpu or ?device=wasm',
    );
  });
});
