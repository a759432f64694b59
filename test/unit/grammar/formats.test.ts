import { describe, expect, it } from 'vitest';
import { formatSource } from '../../../worker/grammar/language/formats.ts';

const fits = (format: string, text: string) => new RegExp(formatSource(format)!, 'u').test(text);

describe('formats by their definitions, where validators are looser or stricter', () => {
  it.each([
    ['hostname', 'ab--cd.org', false],
    ['hostname', 'xn--x', false],
    ['hostname', 'a.XN--aa---o47jg78q', false],
    ['hostname', 'a--b.ab-c--d', true],
    ['hostname', `${'a'.repeat(63)}.b`, true],
    ['uri', 'http://xn--nw2a.xn--j6w193g/', true],
    ['uri-template', "it's{x}", true],
    ['uri-template', '{a.b}', true],
    ['uri-template', 'a😀b', true],
    ['uri-template', '{,,a}', false],
    ['uri-template', 'a b', false],
  ])('%s: %s', (format, text, expected) => {
    expect(fits(format, text)).toBe(expected);
  });
});
