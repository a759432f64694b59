/** Every request field that changes an answer, the whole way, in one table; and every one that is refused. */
import { afterAll, describe, expect, it } from 'vitest';
import { collectCompletion } from '../../../src/chat/collector.ts';
import type { ChatCompletion, ChatCompletionChoice, ChatCompletionTool } from '../../../src/chat/types.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import { eosTokenId, tokenizer } from '../worker/scripted.ts';
import { askBothWays, type Body, expectOne, messages, scriptedEngine } from './both-ways.ts';

const thought = '<think>\nI look.\n</think>\n\n';
const said = `${thought}Sun here.`;
const call = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>';
const tools: ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
];
const idOf = (text: string) => {
  const [id, ...more] = tokenizer.encode(text);
  if (id === undefined || more.length > 0) throw new Error(`${text} is no token`);
  return id;
};
const toLook = tokenizer.encode('<think>\nI look').length;
const loud = `${thought}Sun here!`;
const assistant = (fields: object) => ({ role: 'assistant' as const, content: null, ...fields });
const after = (last: object): Pick<Body, 'messages'> => ({ messages: [...messages, assistant(last)] });

const engines = new Map<string, Promise<Engine>>();
afterAll(async () => {
  for (const engine of engines.values()) await (await engine).close();
});
function engineOf(text: string): Promise<Engine> {
  const engine = engines.get(text) ?? scriptedEngine([{ text }]);
  engines.set(text, engine);
  return engine;
}

interface Told {
  choice: ChatCompletionChoice;
  prompt: string;
  usage: NonNullable<ChatCompletion['usage']>;
  whole: ChatCompletion;
}
type Check = (told: Told) => void;

const saying =
  (reasoning: string | null, content: string | null): Check =>
  ({ choice }) =>
    expect(choice.message).toMatchObject({ reasoning, content });
const ending =
  (finish_reason: string, stop_reason: string | number | null): Check =>
  ({ choice }) =>
    expect(choice).toMatchObject({ finish_reason, stop_reason });
const prompting =
  (end: string): Check =>
  ({ prompt }) =>
    expect(prompt.slice(-end.length)).toBe(end);

/** Field, what the model writes, the request, what holds of the answer. */
const honoured: [string, string, Partial<Body>, Check[]][] = [
  ['nothing', said, {}, [saying('I look.', 'Sun here.'), ending('stop', null)]],
  ['n', said, { n: 3 }, [({ whole }) => expect(whole.choices.map(({ index }) => index)).toEqual([0, 1, 2])]],
  ['stop: a string', said, { stop: 'here' }, [saying('I look.', 'Sun '), ending('stop', 'here')]],
  [
    'stop: several',
    said,
    { stop: ['x', ' here.', 'un h'] },
    [saying('I look.', 'S'), ending('stop', 'un h')],
  ],
  ['stop: only in reasoning', said, { stop: 'look' }, [saying('I look.', 'Sun here.'), ending('stop', null)]],
  [
    'stop_token_ids',
    loud,
    { stop_token_ids: [idOf('!')] },
    [saying('I look.', 'Sun here'), ending('stop', idOf('!'))],
  ],
  [
    'stop_token_ids: the own end of the model',
    said,
    { stop_token_ids: [eosTokenId] },
    [saying('I look.', 'Sun here.'), ending('stop', null)],
  ],
  [
    'stop_token_ids with ignore_eos',
    said,
    { stop_token_ids: [eosTokenId], ignore_eos: true },
    [saying('I look.', 'Sun here.'), ending('stop', eosTokenId)],
  ],
  [
    'ignore_eos',
    said,
    { ignore_eos: true, max_tokens: 40 },
    [
      saying('I look.', 'Sun here.'),
      ending('length', null),
      ({ usage }) => expect(usage.completion_tokens).toBe(40),
    ],
  ],
  [
    'min_tokens before a stop string',
    said,
    { stop: 'Sun', min_tokens: 60, max_tokens: 60 },
    [ending('length', null)],
  ],
  ['max_tokens', said, { max_tokens: toLook }, [ending('length', null), saying('I look', null)]],
  ['max_completion_tokens', said, { max_completion_tokens: toLook }, [saying('I look', null)]],
  [
    'include_reasoning: false',
    said,
    { include_reasoning: false, logprobs: true, return_token_ids: true },
    [
      saying(null, 'Sun here.'),
      ({ usage }) => expect(usage.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(1),
      ({ choice }) => expect(choice).toMatchObject({ logprobs: null }),
      ({ choice, whole }) =>
        expect([choice.token_ids, whole.prompt_token_ids]).toEqual([undefined, undefined]),
    ],
  ],
  [
    'return_token_ids',
    said,
    { return_token_ids: true },
    [({ choice }) => expect(choice.token_ids).toEqual([...tokenizer.encode(said), eosTokenId])],
  ],
  [
    'skip_special_tokens: false',
    `${thought}One<|im_start|>two.`,
    { skip_special_tokens: false },
    [saying('I look.', 'One<|im_start|>two.')],
  ],
  ['skip_special_tokens', `${thought}One<|im_start|>two.`, {}, [saying('I look.', 'Onetwo.')]],
  [
    'skip_special_tokens: false in reasoning, and an end that does not end',
    '<think>\nHm<|im_start|>m.\n</think>\n\nYes.',
    { skip_special_tokens: false, ignore_eos: true, max_tokens: 24 },
    [({ choice }) => expect(choice.message.reasoning).toBe('Hm<|im_start|>m.')],
  ],
  [
    'skip_special_tokens: false shows no end that ends',
    said,
    { skip_special_tokens: false, stop_token_ids: [idOf('<|im_start|>')] },
    [saying('I look.', 'Sun here.')],
  ],
  [
    'add_generation_prompt: false',
    said,
    { add_generation_prompt: false },
    [prompting('Weather in Rome?<|im_end|>\n')],
  ],
  [
    'continue_final_message: content',
    ' shines\n\nhere.',
    { ...after({ content: 'The sun' }), continue_final_message: true },
    [prompting('</think>\n\nThe sun'), saying(null, ' shines\n\nhere.')],
  ],
  [
    'continue_final_message: content that ends in white space, goes on with some',
    '\nhere.',
    { ...after({ content: 'The sun \n' }), continue_final_message: true, add_generation_prompt: false },
    [prompting('The sun \n'), saying(null, '\nhere.')],
  ],
  [
    'continue_final_message: content behind reasoning',
    ' is out.',
    { ...after({ reasoning: 'Look.', content: 'The sun' }), continue_final_message: true },
    [prompting('<think>\nLook.\n</think>\n\nThe sun'), saying(null, ' is out.')],
  ],
  [
    'continue_final_message: reasoning',
    '\nThen I look.\n</think>\n\nSun.',
    { ...after({ reasoning: 'First,' }), continue_final_message: true },
    [prompting('<think>\nFirst,'), saying('\nThen I look.', 'Sun.')],
  ],
  [
    'continue_final_message: a block that the content has opened',
    ' I look.\n</think>\n\nSun.',
    { ...after({ content: '<think>\nFirst,' }), continue_final_message: true },
    [prompting('<think>\nFirst,'), saying(' I look.', 'Sun.')],
  ],
  [
    'continue_final_message and a call',
    `\n${call}`,
    { ...after({ content: 'A moment.' }), continue_final_message: true, tools },
    [saying(null, null), ending('tool_calls', null)],
  ],
  [
    'echo',
    ' is out.',
    { ...after({ reasoning: 'Look.', content: 'The sun' }), continue_final_message: true, echo: true },
    [
      saying('Look.', 'The sun is out.'),
      ({ usage }) => expect(usage.completion_tokens).toBe(tokenizer.encode(' is out.').length + 1),
    ],
  ],
  [
    'echo of reasoning that goes on',
    ' I look.\n</think>\n\nSun.',
    { ...after({ reasoning: 'First,' }), continue_final_message: true, echo: true },
    [saying('First, I look.', 'Sun.')],
  ],
  [
    'echo without reasoning; its text is no stop',
    ' is out.',
    {
      ...after({ reasoning: 'Look.', content: 'The sun' }),
      continue_final_message: true,
      echo: true,
      include_reasoning: false,
      stop: 'sun',
    },
    [saying(null, 'The sun is out.'), ending('stop', null)],
  ],
  [
    'echo before a new message',
    'More.',
    { ...after({ content: 'Sun.' }), echo: true, chat_template_kwargs: { enable_thinking: false } },
    [saying(null, 'Sun.More.'), prompting('<|im_start|>assistant\n<think>\n\n</think>\n\n')],
  ],
  [
    'reasoning_field: reasoning_content',
    said,
    { reasoning_field: 'reasoning_content' },
    [({ choice }) => expect(choice.message).toMatchObject({ reasoning: null, reasoning_content: 'I look.' })],
  ],
  [
    'reasoning_field: both',
    said,
    { reasoning_field: 'both' },
    [
      ({ choice }) =>
        expect(choice.message).toMatchObject({ reasoning: 'I look.', reasoning_content: 'I look.' }),
    ],
  ],
  ['reasoning_field: content', said, { reasoning_field: 'content' }, [saying(null, said)]],
  [
    'reasoning_field: content, cut inside',
    said,
    { reasoning_field: 'content', max_tokens: toLook },
    [saying(null, '<think>\nI look')],
  ],
  [
    'reasoning_field: content before a call',
    thought + call,
    { reasoning_field: 'content', tools },
    [saying(null, thought), ending('tool_calls', null)],
  ],
  [
    'reasoning_field: content in the history',
    'Yes.',
    {
      messages: [...messages, assistant({ content: said }), { role: 'user', content: 'Sure?' }],
      reasoning_field: 'content',
      chat_template_kwargs: { enable_thinking: false },
    },
    [({ prompt }) => expect(prompt).toContain('<|im_start|>assistant\nSun here.<|im_end|>')],
  ],
  [
    'user, metadata, store, safety_identifier and prompt_cache_key',
    said,
    { user: 'u', metadata: { a: 'b' }, store: true, safety_identifier: 's', prompt_cache_key: 'k' },
    [saying('I look.', 'Sun here.')],
  ],
];

describe('request fields that are honoured', () => {
  it.each(honoured)('%s', async (_name, text, body, checks) => {
    const both = await askBothWays(await engineOf(text), {
      max_tokens: 80,
      ...(body.max_completion_tokens && { max_tokens: null }),
      include_details: true,
      seed: 7,
      ...body,
    });
    if (body.reasoning_field === undefined) await expectOne(both);
    const { whole } = both;
    const told = {
      whole,
      choice: whole.choices[0]!,
      prompt: whole.tokenprism!.prompt,
      usage: whole.usage!,
    };
    for (const check of checks) check(told);
    // In a stream the fields have the same names, and the last chunk of a choice says why it ended.
    for (const { index, message, finish_reason, stop_reason } of whole.choices) {
      const parts = both.chunks.flatMap(({ choices }) => choices.filter((choice) => choice.index === index));
      const text = (field: 'content' | 'reasoning' | 'reasoning_content') =>
        parts.map(({ delta }) => delta[field] ?? '').join('') || null;
      expect(text('content')).toBe(message.content);
      expect(text('reasoning')).toBe(message.reasoning);
      expect(text('reasoning_content')).toBe(message.reasoning_content ?? null);
      expect(parts.at(-1)).toMatchObject({ finish_reason, stop_reason });
      expect(
        parts.slice(0, -1).every((part) => part.finish_reason === null && !('stop_reason' in part)),
      ).toBe(true);
    }
  });
});

/** What is wrong, the request, the field that the error names. */
const refused: [string, object, string][] = [
  [
    'a new turn and the old one',
    { ...after({ content: 'a' }), continue_final_message: true, add_generation_prompt: true },
    'add_generation_prompt',
  ],
  ['a continued message of the user', { continue_final_message: true }, 'continue_final_message'],
  [
    'a continued message without text',
    {
      ...after({ tool_calls: [{ id: '1', type: 'function', function: { name: 'f', arguments: '{}' } }] }),
      continue_final_message: true,
    },
    'continue_final_message',
  ],
  [
    'a continued content held to a form',
    { ...after({ content: '{' }), continue_final_message: true, response_format: { type: 'json_object' } },
    'continue_final_message',
  ],
  ['an echo of the user', { echo: true }, 'echo'],
  ['an echo of nothing', { ...after({ content: '' }), echo: true }, 'echo'],
  ['continue_final_message that is no boolean', { continue_final_message: 1 }, 'continue_final_message'],
  ['add_generation_prompt that is no boolean', { add_generation_prompt: 'no' }, 'add_generation_prompt'],
  ['echo that is no boolean', { echo: 'yes' }, 'echo'],
  ['skip_special_tokens that is no boolean', { skip_special_tokens: 0 }, 'skip_special_tokens'],
  ['an unknown reasoning_field', { reasoning_field: 'thoughts' }, 'reasoning_field'],
  ['a stop token that there is none of', { stop_token_ids: [2048] }, 'stop_token_ids[0]'],
  ['more least tokens than most', { min_tokens: 5, max_tokens: 4 }, 'min_tokens'],
  ['ignore_eos beside a grammar', { ignore_eos: true, structured_outputs: { choice: ['a'] } }, 'ignore_eos'],
  ...[
    'best_of',
    'prompt',
    'suffix',
    'functions',
    'function_call',
    'prediction',
    'audio',
    'web_search_options',
    'verbosity',
    'include_stop_str_in_output',
    'prompt_logprobs',
    'truncate_prompt_tokens',
    'spaces_between_special_tokens',
    'priority',
    'length_penalty',
    'use_beam_search',
    'documents',
    'chat_template',
    'add_special_tokens',
    'guided_json',
    'mm_processor_kwargs',
    'bad_words',
    'allowed_token_ids',
    'logits_processors',
    'kv_transfer_params',
    'cache_salt',
    'request_id',
  ].map((field): [string, object, string] => [field, { [field]: 1 }, field]),
];

describe('request fields that are refused', () => {
  it.each(refused)('%s', async (_name, body, param) => {
    const engine = await engineOf(said);
    const error = await engine.chat.completions.create({ messages, ...body } as Body).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ name: 'BadRequestError', status: 400, param });
  });
});

it.each(['reasoning', 'reasoning_content', 'both', 'content'] as const)(
  'a stream with reasoning_field %s collects to the whole answer',
  async (reasoning_field) => {
    for (const text of [said, 'Sun.']) {
      const engine = await scriptedEngine([{ text }]);
      const { choices } = await engine.chat.completions.create({ messages, reasoning_field });
      const stream = await engine.chat.completions.create({ messages, reasoning_field, stream: true });
      expect((await collectCompletion(stream)).choices).toEqual(choices);
      await engine.close();
    }
  },
);

it('the engine says where reasoning stands, unless the request does', async () => {
  const engine = await scriptedEngine([{ text: said }], { reasoningField: 'reasoning_content' });
  const { choices } = await engine.chat.completions.create({ messages });
  expect(choices[0]!.message).toMatchObject({ reasoning: null, reasoning_content: 'I look.' });
  const asked = await engine.chat.completions.create({ messages, reasoning_field: 'reasoning' });
  expect(asked.choices[0]!.message.reasoning).toBe('I look.');
  expect(asked.choices[0]!.message).not.toHaveProperty('reasoning_content');
  await engine.close();
});
