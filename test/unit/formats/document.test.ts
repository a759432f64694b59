import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compose } from '../../../src/parser/compose.ts';
import { createParser, type ParserEvent } from '../../../src/parser/index.ts';
import { formatsDocument } from '../../conformance/formats-document.ts';
import { family } from '../../fixtures/example-format.ts';

describe('the page on formats', () => {
  it('is what the formats and their cases say (npm run formats)', async () => {
    const page = readFileSync(new URL('../../../docs/formats.md', import.meta.url), 'utf8');
    expect(page).toBe(await formatsDocument());
  });
});

describe('its example', () => {
  const format = compose(family.reasoning![0]!.format, family.tools![0]!.format);
  const properties = { room: { type: 'string' }, litres: { type: 'number' } };

  /** What one character after the other gives, in text. */
  function read(text: string): { reasoning: string; content: string; calls: unknown[] } {
    const tools = [{ name: 'water_plants', parameters: { type: 'object', properties } }];
    const parser = createParser({ format, tools });
    const events: ParserEvent[] = [...text].flatMap((character) => parser.feed({ text: character }));
    events.push(...parser.finish('stop'));
    const joined = (type: 'reasoning' | 'content') =>
      events.map((event) => (event.type === type ? event.text : '')).join('');
    const calls: { name: string; arguments: string }[] = [];
    for (const event of events) {
      if (event.type === 'call-start') calls.push({ name: event.name, arguments: '' });
      if (event.type === 'call-arguments') calls[event.index]!.arguments += event.text;
    }
    return {
      reasoning: joined('reasoning'),
      content: joined('content'),
      calls: calls.map((call) => ({ ...call, arguments: JSON.parse(call.arguments) as unknown })),
    };
  }

  it('splits what the family writes', () => {
    expect(
      read('Dry.\n</ponder>\nOn it.\n<call>water_plants(\nroom: kitchen: left\nlitres: 2\n)</call> Done.'),
    ).toEqual({
      reasoning: 'Dry.',
      content: 'On it. Done.',
      calls: [{ name: 'water_plants', arguments: { room: 'kitchen: left', litres: 2 } }],
    });
  });

  it('reads a call without arguments, and a call inside a thought', () => {
    expect(read('Now.<call>water_plants(\n)</call>')).toEqual({
      reasoning: 'Now.',
      content: '',
      calls: [{ name: 'water_plants', arguments: {} }],
    });
  });

  it('leaves as text what is no call', () => {
    expect(read('</ponder>Write <call> first.').content).toBe('Write <call> first.');
  });
});
