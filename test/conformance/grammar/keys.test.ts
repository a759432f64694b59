/** Keys of arguments in formats that write them as parameters, where a schema says what they may be, and values in JSON. */
import { describe, expect, it } from 'vitest';
import { createOutputParser } from '../../../src/chat/output-parser.ts';
import { loadFormat } from '../../../src/formats/index.ts';
import { DIGITS, type ParameterWriting, spellings as spellingsOf } from '../../../src/parser/format.ts';
import type { JsonType } from '../../../src/parser/schema-types.ts';
import { promptOf } from '../../agreement/request.ts';
import { hasOptionalMarkers, type Subject, subjectOf, walkedFormats } from '../../agreement/subject.ts';
import { type GrammarRequest, isAccepted, type Output, prepare, spellings } from './acceptance.ts';

const request = (parameters?: object): GrammarRequest => ({
  tools: [{ type: 'function', function: { name: 'f', ...(parameters && { parameters }) } }],
  request: { tool_choice: 'required' },
  start: 'closed',
});

const subjects = new Map<string, Promise<Subject>>();

function known(format: string): Promise<Subject> {
  const subject = subjects.get(format) ?? subjectOf(format, 'tiny', true);
  subjects.set(format, subject);
  return subject;
}

async function accepts(format: string, parameters: object | undefined, output: string): Promise<boolean> {
  const subject = await known(format);
  const make = await prepare(subject, request(parameters));
  return spellings(subject, output).every((ids) => isAccepted(subject, make(), ids));
}

const M3 = ']<]minimax[>[';
const CALLS: Record<string, (key: string) => string> = {
  qwen3_coder: (key) =>
    `<tool_call>\n<function=f>\n<parameter=${key}>\n1\n</parameter>\n</function>\n</tool_call>`,
  minimax_m2: (key) =>
    `<minimax:tool_call>\n<invoke name="f">\n<parameter name="${key}">1</parameter>\n</invoke>\n</minimax:tool_call>`,
  minimax_m3: (key) =>
    `${M3}<tool_call>\n${M3}<invoke name="f">${M3}<${key}>1${M3}</${key}>${M3}</invoke>\n${M3}</tool_call>`,
  glm45: (key) => `<tool_call>f\n<arg_key>${key}</arg_key>\n<arg_value>1</arg_value>\n</tool_call>`,
};

describe.each(Object.entries(CALLS))('%s', (format, call) => {
  it('ends after keys that the model chose, and without any', async () => {
    for (const parameters of [undefined, { type: 'object' }]) {
      expect(await accepts(format, parameters, call('a_key')), call('a_key')).toBe(true);
    }
  });

  it('holds declared keys to propertyNames', async () => {
    const properties = { long_name: { type: 'integer' }, id: { type: 'integer' } };
    const parameters = { type: 'object', properties, propertyNames: { maxLength: 3 } };
    expect(await accepts(format, parameters, call('id'))).toBe(true);
    expect(await accepts(format, parameters, call('long_name'))).toBe(false);
  });
});

it.each(['minimax_m2', 'deepseek_v32', 'qwen3_coder'])(
  '%s refuses a declared key that would end its tag',
  async (format) => {
    const parameters = { type: 'object', properties: { 'a>b': { type: 'string' } } };
    await expect(accepts(format, parameters, '')).rejects.toMatchObject({
      code: 'schema_unsupported',
      message: expect.stringContaining('"a>b"'),
    });
  },
);

it('a closer in minimax_m3 may name another key, but spells no other tag', async () => {
  const closed = (name: string) => CALLS.minimax_m3!('a_key').replace('</a_key>', `</${name}>`);
  for (const [name, isTaken] of [
    ['other', true],
    ['tool_calls', true],
    ['tool_call', false],
    ['invoke', false],
  ] as const) {
    expect(await accepts('minimax_m3', { type: 'object' }, closed(name)), name).toBe(isTaken);
  }
});

/** How a format writes parameters; null for one that does not. */
function parametersOf({ format }: Pick<Subject, 'format'>): ParameterWriting | null {
  const style = format.tools?.writing?.arguments;
  return typeof style === 'object' && 'open' in style ? style : null;
}

/** A call of `f` with one argument that stands there as JSON, the key in ordinary tokens. */
function called({ format, vocabulary }: Subject, key: string, json: string, type: JsonType): Output {
  const { blockStart, blockEnd, callStart, callEnd, arguments: style } = format.tools!.writing!;
  const { open, close, elements, escapeKey } = style as ParameterWriting;
  const opened = callStart('f').map((part) => (part === DIGITS ? '0' : part));
  const [before, after] = open('KEY', 'json', type).split('KEY');
  const name = { text: escapeKey?.(key) ?? key, special: false };
  return [
    ...vocabulary.pieces([blockStart, ...opened, before].join('')),
    name,
    ...vocabulary.pieces(after + json + close),
    ...(elements ? [name] : []),
    ...vocabulary.pieces((elements?.closeEnd ?? '') + callEnd + blockEnd),
  ];
}

async function argumentsOf(subject: Subject, parameters: Record<string, unknown>, ids: readonly number[]) {
  const parser = await createOutputParser({
    reasoningParser: subject.names.reasoning,
    toolParser: subject.names.tools,
    tools: [{ type: 'function', function: { name: 'f', parameters } }],
    tokens: subject.vocabulary.table,
    templateArguments: {},
    prompt: { ids: promptOf(subject, 'closed') },
    grammar: { calls: true, content: false, isVerbatim: false },
  });
  for (const id of ids) parser.feed({ ids: [id] });
  parser.finish('stop');
  return parser.choice.message.tool_calls?.map((call) => call.function.arguments) ?? [];
}

const formats: string[] = [];
for (const name of await walkedFormats()) {
  if (parametersOf({ format: await loadFormat({ reasoning: null, tools: name }) })) formats.push(name);
}

const KEYS = [
  '$x',
  'a b',
  'größe',
  'ns:name',
  '日本',
  '1',
  'a\nb',
  '-',
  '<b',
  "it's",
  'a&amp;b',
  'y'.repeat(120),
];
const TRICKY = [
  'a>b',
  'a"b',
  'a">b',
  "a'>b",
  '>',
  '">',
  ' a',
  'a ',
  '',
  'tool_call',
  '/x',
  '</arg_key>',
  '"',
];

describe.each(formats)('%s', async (format) => {
  const subjects = [await known(format)];
  if (await hasOptionalMarkers(format)) subjects.push(await subjectOf(format, 'tiny', false));

  it('says all that ends a key', () => {
    const { tools } = subjects[0]!.format;
    const { keyEnds } = parametersOf(subjects[0]!)!;
    const ends = Object.values(tools!.states).flatMap(({ on }) =>
      Object.entries(on).flatMap(([terminal, transition]) =>
        [transition].flat().some((one) => one.do?.includes('key'))
          ? spellingsOf(tools!.terminals[terminal]!)
          : [],
      ),
    );
    expect(ends.length).toBeGreaterThan(0);
    expect(ends.filter((end) => !keyEnds.some((own) => end.includes(own)))).toEqual([]);
  });

  it('writes keys of any kind, and reads them as they are', async () => {
    for (const subject of subjects) {
      const open = await prepare(
        subject,
        request({ type: 'object', additionalProperties: { type: 'integer' } }),
      );
      for (const key of [...KEYS, ...TRICKY]) {
        // An element has a name.
        if (key === '' && parametersOf(subject)!.elements) continue;
        const parameters = { type: 'object', properties: { [key]: { type: 'integer' } } };
        const declared = await prepare(subject, request(parameters)).catch((error: unknown) => {
          expect(error, key).toMatchObject({
            code: 'schema_unsupported',
            param: expect.stringContaining('properties'),
          });
          return null;
        });
        const output = called(subject, key, '1', 'integer');
        const ids = spellings(subject, output)[1]!;
        expect(isAccepted(subject, open(), ids), `${JSON.stringify(key)} as another key`).toBe(
          declared !== null,
        );
        const read = await argumentsOf(subject, parameters, ids);
        const isRead =
          JSON.stringify(read.map((text) => JSON.parse(text))) === JSON.stringify([{ [key]: 1 }]);
        if (declared) expect(isAccepted(subject, declared(), ids), key).toBe(true);
        else expect(KEYS).not.toContain(key);
        // The closing tag of an element may mean something else where another argument follows it.
        if (declared || !parametersOf(subject)!.elements) expect(isRead, key).toBe(declared !== null);
      }
    }
  });

  it('writes markup in JSON', async () => {
    const parameters = {
      type: 'object',
      properties: {
        a: { type: 'object', additionalProperties: true },
        b: { type: 'array', items: { minLength: 1 } },
      },
    };
    for (const subject of subjects) {
      const make = await prepare(subject, request(parameters));
      const isList = parametersOf(subject)!.elements === undefined;
      for (const [key, json] of [
        ['a', '{"html":"<b>x</b> & <p>","<i>":["a<b","</"]}'],
        ['b', '["<b>x</b>","a<b",{"<":"<![CDATA"},"</par"]'],
      ] as const) {
        if (key === 'b' && !isList) continue;
        const ids = spellings(subject, called(subject, key, json, key === 'a' ? 'object' : 'array'))[1]!;
        expect(isAccepted(subject, make(), ids), json).toBe(true);
        const read = await argumentsOf(subject, parameters, ids);
        expect(read.map((text) => JSON.parse(text))).toEqual([{ [key]: JSON.parse(json) }]);
      }
    }
  });
});
