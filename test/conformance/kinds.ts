/** What any family's model may write, and what the settled policy makes of it: one set of cases a family. */
import type { Case, Expected, ExpectedCall } from './case.ts';
import type { Writer } from './writers.ts';

const properties = {
  guests: { type: 'integer' },
  at: { type: 'string' },
  outdoor: { type: 'boolean' },
  seats: { type: 'array', items: { type: 'integer' } },
  contact: {
    type: 'object',
    properties: { name: { type: 'string' }, phone: { type: ['string', 'null'] } },
  },
  tip: { type: 'number' },
  voucher: { anyOf: [{ type: 'string' }, { type: 'null' }] },
};
const text = { type: 'string' };
const TOOLS = Object.entries({
  book: properties,
  ping: {},
  write: { path: text, text },
}).map(([name, own]) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: own } },
}));

const PING: ExpectedCall = { name: 'ping', arguments: {} };
const WRITE: ExpectedCall = { name: 'write', arguments: { path: 'a.md', text: 'Zoë 🍜 "x"' } };
const UNDECLARED: ExpectedCall = { name: 'open_cellar', arguments: { floor: 2 } };
const BOOK: ExpectedCall = {
  name: 'book',
  arguments: {
    guests: 2,
    seats: [1, 2],
    contact: { name: 'B', phone: null },
    voucher: null,
    outdoor: false,
    tip: -0.5,
  },
};

interface Answer {
  reasoning?: string;
  content?: string;
  calls?: ExpectedCall[];
  incomplete?: ExpectedCall[];
}

class Kinds {
  readonly cases: Case[] = [];
  readonly #writer: Writer;

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  args(values: unknown): string {
    const { args } = this.#writer;
    return args === 'json' ? JSON.stringify(values) : args(values as Record<string, unknown>);
  }

  run(...calls: ExpectedCall[]): string {
    const { open = '', close = '', between = '', head, tail = '' } = this.#writer;
    const written = calls.map(({ name, arguments: values }) => head(name) + this.args(values) + tail);
    return open + written.join(between) + close;
  }

  /** Without reasoning at work. */
  plain(note: string, output: string, answer: Answer, rest: Partial<Case> = {}): void {
    this.#add(note, output, answer, { reasoning_parser: null, ...rest });
  }

  thinking(note: string, output: string, answer: Answer, rest: Partial<Case> = {}): void {
    this.#add(note, output, answer, { request: this.#writer.switch ?? null, ...rest });
  }

  #add(note: string, output: string, answer: Answer, rest: Partial<Case>): void {
    const { reasoning: reasoning_parser, tools } = this.#writer;
    const { reasoning = null, content = null, calls = [], incomplete } = answer;
    const finish = rest.finish ?? 'stop';
    const expected: Expected = {
      reasoning,
      content,
      tool_calls: calls,
      finish_reason: finish === 'length' ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop',
      ...(incomplete && { incomplete_tool_calls: incomplete }),
    };
    this.cases.push({
      id: `${tools}: ${note}`,
      format: tools,
      reasoning_parser,
      tool_parser: tools,
      thinking: null,
      prompt_tail: null,
      tools: TOOLS,
      output,
      chunks: null,
      request: null,
      expected,
      compare: 'exact',
      ...rest,
      finish,
    });
  }
}

export function kindsOf(writer: Writer): Case[] {
  const kinds = new Kinds(writer);
  addCalls(kinds, writer);
  addCuts(kinds, writer);
  addEnvelopes(kinds, writer);
  if (writer.args === 'json') addJson(kinds, writer);
  if (writer.reasoning !== null) addThoughts(kinds, writer);
  return kinds.cases;
}

function addCalls(kinds: Kinds, { isBare, isStrict, open, opener, head }: Writer): void {
  const gap = isBare ? '\n' : ' ';
  const marker = (open ?? opener ?? head('x')).trim();
  kinds.plain('text around calls', `One.${gap}${kinds.run(PING, WRITE)}\nTwo.`, {
    content: 'One.\nTwo.',
    calls: [PING, WRITE],
  });
  kinds.plain('every kind of value', kinds.run(BOOK), { calls: [BOOK] });
  if (!isStrict) {
    kinds.plain('a function that is not declared', kinds.run(UNDECLARED), { calls: [UNDECLARED] });
  }
  kinds.plain('a quoted marker', `Write \`${marker}\` first.`, { content: `Write \`${marker}\` first.` });
  kinds.plain(
    'tool_choice none',
    `One.${gap}${kinds.run(PING)} Two.`,
    { content: 'One. Two.' },
    { request: { tool_choice: 'none' } },
  );
}

function addCuts(kinds: Kinds, { isBare, open = '', head, openText }: Writer): void {
  const begun = open + head('write') + (openText?.('text', 'So') ?? '{"text": "So');
  const incomplete = [{ name: 'write', arguments: { text: 'So' } }];
  kinds.plain('cut in a text', begun, { incomplete }, { finish: 'length' });
  kinds.plain('the turn ends in a text', begun, { incomplete });
  if (isBare) return;
  const named = open + head('write').slice(0, head('write').indexOf('write') + 3);
  kinds.plain('cut in the name', `One. ${named}`, { content: 'One. ' }, { finish: 'length' });
  kinds.plain('the turn ends in the name', `One. ${named}`, { content: `One. ${named}` });
}

function addEnvelopes(kinds: Kinds, { isBare, open, close, opener, closer, head, tail = '' }: Writer): void {
  const call = head('ping') + kinds.args({}) + tail;
  const words = (before: string, after: string) => {
    for (const inside of ['', ' no call here ']) {
      const output = `A ${before}${inside}${after} B`;
      kinds.plain(inside === '' ? 'nothing inside' : 'words inside', output, { content: output });
    }
  };
  if (opener !== undefined) {
    kinds.plain('a repeated opener', opener + call, { calls: [PING] });
    if (closer !== undefined) words(opener, closer);
  }
  if (open === undefined || isBare) return;
  const marker = open.replace(/\[\s*$/, '');
  // A word by itself opens nothing.
  if (/[<|]/.test(marker)) kinds.plain('a repeated opener', marker + open + call + close, { calls: [PING] });
  words(open, close ?? '');
  kinds.plain('the end is missing', open + call, { calls: [PING] });
}

function addJson(kinds: Kinds, { open = '', close = '', head, tail = '' }: Writer): void {
  const written = (name: string, json: string, end = tail) => open + head(name) + json + end + close;
  kinds.plain('slips', written('write', `{'path': 'it\\'s', "text": "a\nb", "x": None, "y": [True,],}`), {
    calls: [{ name: 'write', arguments: { path: "it's", text: 'a\nb', x: null, y: [true] } }],
  });
  kinds.plain(
    'values of other types',
    written(
      'book',
      `{"guests": "4", "at": 7, "outdoor": "False", "seats": ["1"], "contact": "{\\"name\\": 3}", "voucher": "null"}`,
    ),
    {
      calls: [
        {
          name: 'book',
          arguments: {
            guests: 4,
            at: '7',
            outdoor: false,
            seats: [1],
            contact: { name: '3' },
            voucher: 'null',
          },
        },
      ],
    },
  );
  kinds.plain('worse than a slip', written('write', '{"path": "a" 3}'), {
    incomplete: [{ name: 'write', arguments: { path: 'a' } }],
  });
  if (/[^}\s]/.test(tail + close)) {
    const end = tail.replace('}', '');
    kinds.plain('braces are missing', written('write', '{"path": "a"', end), {
      calls: [{ name: 'write', arguments: { path: 'a' } }],
    });
  }
  kinds.plain('everything behind the arguments is missing', `${open}${head('write')}{"path": "a"}`, {
    calls: [{ name: 'write', arguments: { path: 'a' } }],
  });
}

function addThoughts(
  kinds: Kinds,
  { think = ['<think>', '</think>'], isSpelled, drafts, thinksOnce }: Writer,
): void {
  const [start, end] = think;
  const run = kinds.run(PING);
  kinds.thinking('a thought, then a call', `${start}Hm.${end}${run}`, { reasoning: 'Hm.', calls: [PING] });
  if (!thinksOnce) addThinkingAgain(kinds, start, end, run);
  kinds.thinking('a second end marker', `${start}Hm.${end}A${end}B`, {
    reasoning: 'Hm.',
    content: isSpelled ? `A${end}B` : 'AB',
  });
  kinds.thinking('cut in the thought', `${start}Hm. So`, { reasoning: 'Hm. So' }, { finish: 'length' });
  kinds.thinking('the turn ends in the thought', `${start}Hm. So`, { reasoning: 'Hm. So' });
  kinds.thinking('an empty thought', `${start}\n\n${end}\n\nYes.`, { content: 'Yes.' });
  if (drafts) {
    kinds.thinking('a call in the thought is a draft', `${start}Maybe ${run} later.${end}No.`, {
      reasoning: `Maybe ${run} later.`,
      content: 'No.',
    });
  } else {
    kinds.thinking('a call ends the thought', `${start}Hm. ${run}`, { reasoning: 'Hm.', calls: [PING] });
  }
}

function addThinkingAgain(kinds: Kinds, start: string, end: string, run: string): void {
  kinds.thinking('thinking again', `${start}Hm.\n${end}\n${run}\n${start}\nSo.\n${end}\n\nServed.`, {
    reasoning: 'Hm.So.',
    content: 'Served.',
    calls: [PING],
  });
  kinds.thinking('thoughts in an answer', `${start}A${end}One. ${start}B${end}Two.`, {
    reasoning: 'AB',
    content: 'One. Two.',
  });
}
