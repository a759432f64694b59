import { describe, expect, it } from 'vitest';
import { BadRequestError, ModelLoadError } from '../../../src/errors.ts';
import { promptOf, tinyFiles } from './models.ts';

const files = tinyFiles();
const job = { messages: [{ role: 'user', content: 'x' }], tools: null, templateArguments: {} };
const refusal = (source: string) => {
  const { template } = promptOf(files, source);
  try {
    template.render(job);
  } catch (error) {
    return error;
  }
  return null;
};

describe('a chat template', () => {
  const loops = '{% for a in range(100000) %}'.repeat(3);
  const endloops = '{% endfor %}'.repeat(3);
  it.each([
    ['of loops in loops', `${loops}x${endloops}`, /more than 4000000 steps/],
    ['of empty loops', `${loops}${endloops}`, /more than 4000000 steps/],
    [
      'with a huge range',
      '{% for a in range(1000000000000) %}{% endfor %}',
      /range of 1000000000000 numbers/,
    ],
    ['with a range without an end', '{% for a in range(0, 9, 0) %}{% endfor %}', /range of Infinity numbers/],
    [
      'whose macro calls itself twice',
      '{% macro f(n) %}{% if n > 0 %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}',
      /more than 4000000 steps/,
    ],
    [
      'that doubles a string',
      "{% set n = namespace(s='ab') %}{% for a in range(60) %}{% set n.s = n.s ~ n.s %}{% endfor %}{{ n.s }}",
      /string of 134217728 characters/,
    ],
    [
      'that doubles a list, and prints it',
      '{% set n = namespace(s=[1]) %}{% for a in range(60) %}{% set n.s = [n.s, n.s] %}{% endfor %}{{ n.s | tojson }}',
      /list of more than 1000000 values/,
    ],
    [
      'that nests what it changes later',
      '{% set n = namespace() %}{% set m = namespace() %}{% set n.a = [m, m] %}{{ n.a | tojson }}',
      /namespace inside of another value/,
    ],
  ])('%s ends in an error that names it', (_, source, message) => {
    const error = refusal(source);
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ code: 'chat_template_limit', message: expect.stringMatching(message) });
    expect((error as Error).message).toContain('chat_template.jinja');
  });

  it.each([
    ['calls itself for ever', '{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}'],
    ['raises', "{{ raise_exception('no') }}"],
    ['calls what is none', "{{ messages.constructor.constructor('return 1')() }}"],
  ])('that %s is refused', (_, source) => {
    expect(refusal(source)).toMatchObject({ code: 'chat_template_error' });
  });

  it.each([
    ['nests without an end', `{{ ${'('.repeat(100_000)}1${')'.repeat(100_000)} }}`],
    ['is not closed', `${'{% if true %}'.repeat(1000)}x`],
  ])('that %s is none', (_, source) => {
    expect(() => promptOf(files, source)).toThrow(ModelLoadError);
  });

  it('has the globals of the interpreter, and lets no request replace them', () => {
    const source =
      "{{ range(3) | join('') }}{{ range(4, 1, -1) | join('') }}{{ strftime_now('%Y') | length }}{{ True and not none }}";
    expect(promptOf(files, source).template.render(job).text).toBe('0124324true');
    expect(() =>
      promptOf(files, source).template.render({ ...job, templateArguments: { range: 1 } }),
    ).toThrow(/already declared/);
  });

  it('may take a long conversation', () => {
    const turn = [
      { role: 'user', content: 'x'.repeat(1000) },
      { role: 'assistant', content: 'y'.repeat(1000) },
    ];
    const messages = Array.from({ length: 1000 }, () => turn).flat();
    const { text } = promptOf(files).template.render({ ...job, messages });
    expect(text.length).toBeGreaterThan(2_000_000);
  });
});
