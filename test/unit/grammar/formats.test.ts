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
    ['base64', 'YQ==', true],
    ['base64', 'YQ=', false],
    ['base64url', '_-8', true],
    ['base64url', '_-8=', false],
    ['uuid4', 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6', true],
    ['uuid4', 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6', false],
    ['cidrv4', '10.0.0.0/8', true],
    ['cidrv4', '10.0.0.0/33', false],
    ['cidrv6', '2001:db8::/32', true],
    ['cidrv6', '2001:db8::/129', false],
    ['e164', '+4930123456', true],
    ['e164', '004930123456', false],
    ['ulid', '01ARZ3NDEKTSV4RRFFQ69G5FAV', true],
    ['ulid', '81ARZ3NDEKTSV4RRFFQ69G5FAV', false],
    ['char', 'é', true],
    ['char', 'ab', false],
    ['decimal', '-1.50', true],
    ['decimal', '1e5', false],
  ])('%s: %s', (format, text, expected) => {
    expect(fits(format, text)).toBe(expected);
  });
});
