/**
 * Cost of a grammar at the vocabulary of Qwen3: mask and accept by position, compilation by number of tools, tokens
 * that need no forward pass.
 *
 * `--step MS` sets the time of a decode step to compare with; default 20 ms, that of 50 tokens a second.
 */
import { readConstraint } from '../src/chat/constraint.ts';
import { readTools } from '../src/chat/tools.ts';
import type { GenerateJob } from '../src/protocol.ts';
import { CATALOGUE, type Tool } from '../test/agreement/catalogue.ts';
import { type Subject, subjectOf } from '../test/agreement/subject.ts';
import type { WalkVocabulary } from '../test/agreement/vocabulary.ts';
import type { ChoiceConstraint } from '../worker/grammar/constraint.ts';
import { median, numberOption, type Report, rounded } from './report.ts';

/** Calls as models write them. */
const CALLS: readonly [name: string, json: string][] = [
  ['get_weather', '{"city": "Oslo", "unit": "celsius"}'],
  ['get_current_time', '{}'],
  [
    'send_email',
    '{"to": ["ana@example.org"], "subject": "Lunch", "body": "Shall we meet at noon on Friday?\\nAna"}',
  ],
  [
    'calendar.create-event',
    '{"title": "Planning", "start": "2026-03-02T09:30:00Z", "duration_minutes": 45, "attendees": [{"name": "Li", "role": "host"}]}',
  ],
  [
    'edit_file',
    '{"path": "/src", "old_text": "const a = 1;", "new_text": "const a = 2;\\nconst b = 3;", "line": 12}',
  ],
  ['run_python', '{"code": "import math\\nprint(math.sqrt(2))", "timeout": 2.5}'],
  [
    'query_database',
    '{"table": "orders", "filters": [{"column": "total", "operator": ">=", "value": 100}], "limit": 20}',
  ],
  [
    'http_request',
    '{"url": "https://example.org/items?id=7", "method": "GET", "headers": {"accept": "text/html"}}',
  ],
  ['book_flight', '{"legs": [{"from": "OSL", "to": "LHR"}], "passengers": 2, "class": "economy"}'],
  ['set_light', '{"room": "kitchen", "brightness": 0.5, "on": true}'],
];

const TOOL_COUNTS = [1, 5, 10, 50];
const ROUNDS = 20;

export async function run(options: readonly string[] = []): Promise<Report[]> {
  const step = numberOption(options, '--step', 20);
  const subject = await subjectOf('hermes', 'qwen3', true);
  const compiles = await compileTimes(subject);
  const { positions, saved } = await stepTimes(subject);
  const all = [...positions.values()].flat();
  const mean = all.reduce((sum, time) => sum + time, 0) / all.length;
  const counts = [...saved.values()];
  const tokens = counts.reduce((sum, count) => sum + count.tokens, 0);
  const forced = counts.reduce((sum, count) => sum + count.forced, 0);
  return [
    {
      title: `Grammars at ${subject.vocabulary.width.toLocaleString('en')} logits: mask and accept of a token, by where it stands`,
      rows: [...positions, ['all', all] as const].map(([position, times]) => stepRow(position, times, step)),
      notes: [
        `A step is taken to be ${step} ms; mask and accept are ${((100 * mean) / (1000 * step)).toFixed(2)} % of it on average.`,
        'In the worker the mask is made while the device computes, so that only what is longer than the step is waited for.',
      ],
    },
    {
      title: 'From the request to the first mask, nothing compiled before',
      rows: [...compiles].map(([tools, milliseconds]) => ({ tools, ms: rounded(milliseconds) })),
      notes: ['The same tools again come from a cache.'],
    },
    {
      title: 'Tokens of ten calls that must come, and take no forward pass',
      rows: [...saved, ['all', { tokens, forced }] as const].map(([call, count]) => ({
        call,
        tokens: count.tokens,
        forced: count.forced,
        share: `${((100 * count.forced) / count.tokens).toFixed(0)} %`,
      })),
      notes: [],
    },
  ];
}

function stepRow(position: string, times: readonly number[], step: number): Report['rows'][number] {
  const sorted = [...times].sort((a, b) => a - b);
  const middle = median(times);
  return {
    position,
    tokens: times.length,
    'median, µs': rounded(middle),
    'p99, µs': rounded(sorted[Math.floor(0.99 * (sorted.length - 1))]!),
    'share of a step': `${((100 * middle) / (1000 * step)).toFixed(2)} %`,
  };
}

/** Tools of the catalogue again and again, under names of their own and with one property that no other has. */
function toolsOf(count: number, salt: string): Tool[] {
  return Array.from({ length: count }, (_, index) => {
    const { name, parameters } = CATALOGUE[index % CATALOGUE.length]!;
    const properties = {
      ...(parameters.properties as object),
      [`note_${salt}_${index}`]: { type: 'string' },
    };
    return { name: `${name}_${index}`, parameters: { ...parameters, properties } };
  });
}

/** Milliseconds from the request to the first mask, nothing of it compiled before. */
async function compileTimes(subject: Subject): Promise<Map<number, number>> {
  const times = new Map<number, number>();
  // The first compile loads the vocabulary.
  await constrain(subject, toolsOf(1, 'warm'));
  for (const count of TOOL_COUNTS) {
    const taken: number[] = [];
    for (let attempt = 0; attempt < 3; attempt++) {
      const tools = toolsOf(count, `${count}_${attempt}`);
      const start = performance.now();
      const constraint = await constrain(subject, tools);
      constraint.mask();
      taken.push(performance.now() - start);
      constraint.dispose();
    }
    times.set(count, median(taken));
  }
  return times;
}

async function constrain(subject: Subject, tools: readonly Tool[]): Promise<ChoiceConstraint> {
  const body = { tools: tools.map((tool) => ({ type: 'function', function: { ...tool, strict: true } })) };
  const read = readTools(body);
  const job: GenerateJob = {
    messages: [],
    tools: read.offered,
    templateArguments: { enable_thinking: false },
    sampling: {},
    maxTokens: null,
    choices: 1,
    constraint: readConstraint(body, read, true, {
      format: subject.names,
      toolStrictness: 'auto',
      strictToolCalling: true,
    }),
  };
  const prompt = subject.vocabulary.encode('<|im_start|>assistant\n<think>\n\n</think>\n\n');
  const make = await subject.constraints.prepare(job, prompt);
  if (!make) throw new Error('The request has no constraint.');
  return make();
}

const PREAMBLE = 'I will look that up for you. It takes a moment, and then we can decide what to do.';

type Position = 'free text' | 'opener' | 'envelope' | 'structure' | 'string';

/** Microseconds of a token by where it stands, and how many of each call's tokens were forced. */
async function stepTimes(subject: Subject) {
  const positions = new Map<Position, number[]>();
  const saved = new Map<string, { tokens: number; forced: number }>();
  const { vocabulary } = subject;
  for (const [name, json] of CALLS) {
    const parts: [Position, string][] = [
      ['free text', PREAMBLE],
      ['opener', '<tool_call>'],
      ['envelope', `\n{"name": "${name}", "arguments": `],
      ...jsonParts(json),
      ['envelope', '}\n'],
      ['envelope', '</tool_call>'],
    ];
    const text = parts.map(([, part]) => part).join('');
    for (let attempt = 0; attempt < ROUNDS; attempt++) {
      const constraint = await constrain(subject, CATALOGUE);
      const counts = { tokens: 0, forced: 0 };
      for (let at = 0; at < text.length; ) {
        const position = positionAt(parts, at);
        const forced = constraint.forced();
        const id = forced ?? longest(vocabulary, upToMarker(text.slice(at)), constraint.mask());
        at += vocabulary.reader.text(id).length;
        if (position !== 'free text') {
          counts.tokens++;
          if (forced !== null) counts.forced++;
        }
        const start = performance.now();
        constraint.accept(id);
        if (constraint.forced() === null) constraint.mask();
        const times = positions.get(position) ?? [];
        positions.set(position, times);
        times.push(1000 * (performance.now() - start));
      }
      constraint.dispose();
      saved.set(name, counts);
    }
  }
  return { positions, saved };
}

function positionAt(parts: readonly [Position, string][], at: number): Position {
  let end = 0;
  for (const [position, part] of parts) {
    end += part.length;
    if (at < end) return position;
  }
  throw new Error('The text has ended.');
}

/** No token spans the border between text and a marker. */
const upToMarker = (text: string) => /^(?:<\/?tool_call>|[\s\S]*?(?=<\/?tool_call>|$))/.exec(text)![0];

/** The longest token that the text begins with and that may come. */
function longest(vocabulary: WalkVocabulary, text: string, mask: Uint32Array | null): number {
  for (let length = Math.min(text.length, 16); length > 0; length--) {
    const ids = vocabulary.encode(text.slice(0, length));
    const id = ids[0]!;
    if (ids.length === 1 && (mask === null || ((mask[id >> 5]! >>> (id & 31)) & 1) === 1)) return id;
  }
  throw new Error(`The grammar does not let ${JSON.stringify(text)} come.`);
}

/** Strings and what stands around them. */
function jsonParts(json: string): [Position, string][] {
  return json
    .split(/((?<=[:[] ?)"(?:[^"\\]|\\.)*")/)
    .filter((part) => part !== '')
    .map((part) => [part.startsWith('"') && part.endsWith('"') ? 'string' : 'structure', part]);
}
