/** How each family writes thoughts and calls, spelled out once more: independent of the formats that are tested. */
export interface Writer {
  reasoning: string | null;
  tools: string;
  /** Markers of a thought. */
  think?: readonly [string, string];
  /** The markers of a thought are spelled in ordinary tokens. */
  isSpelled?: boolean;
  /** The request's template arguments that switch thinking on. */
  switch?: Record<string, unknown>;
  /** Only the prompt opens a thought. */
  thinksOnce?: boolean;
  /** A call inside a thought is a draft. */
  drafts?: boolean;
  /** Around a run of calls. */
  open?: string;
  close?: string;
  between?: string;
  /** Around one call. */
  head(name: string): string;
  tail?: string;
  args: 'json' | ((values: Record<string, unknown>) => string);
  /** A text value that is open. */
  openText?(key: string, text: string): string;
  /** Before and behind a call, where each stands by itself. */
  opener?: string;
  closer?: string;
  /** Calls count at the start of a line only. */
  isBare?: boolean;
  /** Only declared functions count. */
  isStrict?: boolean;
}

const json = JSON.stringify;
const plain = (value: unknown) => (typeof value === 'string' ? value : json(value));
const each = (write: (key: string, value: unknown) => string, separator = '') => {
  return (values: Record<string, unknown>) =>
    Object.entries(values)
      .map(([key, value]) => write(key, value))
      .join(separator);
};

function python(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`;
  if (typeof value === 'object') {
    return `{${Object.entries(value)
      .map(([key, item]) => `${json(key)}: ${python(item)}`)
      .join(', ')}}`;
  }
  return json(value);
}

function delimited(quote: string, value: unknown): string {
  if (typeof value === 'string') return quote + value + quote;
  if (Array.isArray(value)) return `[${value.map((item) => delimited(quote, item)).join(',')}]`;
  if (value === null || typeof value !== 'object') return json(value);
  return `{${Object.entries(value)
    .map(([key, item]) => `${key}:${delimited(quote, item)}`)
    .join(',')}}`;
}

const MARK = ']<]minimax[>[';
function element(key: string, value: unknown): string {
  if (Array.isArray(value)) return value.map((item) => element(key, item)).join('');
  const inside = value !== null && typeof value === 'object' ? each(element)(value as never) : plain(value);
  return `${MARK}<${key}>${inside}${MARK}</${key}>`;
}

const object = (name: string, key = 'arguments') => `{"name": ${json(name)}, ${json(key)}: `;

/** One JSON object between tags. */
const tagged = (tools: string, start: string, end: string, rest: Partial<Writer> = {}): Writer => ({
  reasoning: null,
  tools,
  head: (name) => start + object(name),
  tail: `}${end}`,
  args: 'json',
  between: '\n',
  opener: start,
  closer: end || undefined,
  ...rest,
});

/** A list of JSON objects between tags. */
const listed = (tools: string, open: string, close: string, rest: Partial<Writer> = {}): Writer => ({
  reasoning: null,
  tools,
  open,
  close,
  between: ', ',
  head: (name) => object(name),
  tail: '}',
  args: 'json',
  ...rest,
});

const xml = (
  reasoning: string,
  tools: string,
  tag: string,
  line: string,
  rest: Partial<Writer> = {},
): Writer => ({
  reasoning,
  tools,
  head: (name) => `<${tag}>\n<function=${name}>\n`,
  tail: `</function>\n</${tag}>`,
  args: each((key, value) => `<parameter=${key}>${line}${plain(value)}${line}</parameter>\n`),
  openText: (key, text) => `<parameter=${key}>${line}${text}`,
  between: '\n',
  opener: `<${tag}>\n`,
  closer: `\n</${tag}>`,
  ...rest,
});

const pairs = (name: string, line: string, rest: Partial<Writer> = {}): Writer => ({
  reasoning: name,
  tools: name,
  head: (called) => `<tool_call>${called}${line}`,
  tail: '</tool_call>',
  args: each((key, value) => `<arg_key>${key}</arg_key>${line}<arg_value>${plain(value)}</arg_value>${line}`),
  openText: (key, text) => `<arg_key>${key}</arg_key>${line}<arg_value>${text}`,
  between: line,
  opener: '<tool_call>',
  closer: '</tool_call>',
  ...rest,
});

const dsml = (
  reasoning: string,
  tools: string,
  block: string,
  space = '',
  rest: Partial<Writer> = {},
  bars = '｜DSML｜',
): Writer => {
  const open = (key: string, isText: boolean) =>
    `<${bars}${space}parameter name="${key}" string="${isText}">`;
  return {
    reasoning,
    tools,
    open: `<${bars}${space}${block}>\n`,
    close: `</${bars}${space}${block}>`,
    head: (name) => `<${bars}${space}invoke name="${name}">\n`,
    tail: `</${bars}${space}invoke>\n`,
    args: each(
      (key, value) => `${open(key, typeof value === 'string')}${plain(value)}</${bars}${space}parameter>\n`,
    ),
    openText: (key, text) => open(key, true) + text,
    ...rest,
  };
};

const calls = (
  tools: string,
  open: string,
  close: string,
  between: string,
  rest: Partial<Writer>,
): Writer => ({
  reasoning: null,
  tools,
  open,
  close,
  between,
  head: (name) => `${name}(`,
  tail: ')',
  args: each((key, value) => `${key}=${python(value)}`, ', '),
  openText: (key, text) => `${key}="${text}`,
  ...rest,
});

const delimitedCalls = (tools: string, start: string, end: string, quote: string): Writer => ({
  reasoning: null,
  tools,
  head: (name) => `${start}call:${name}`,
  tail: end,
  args: (values) => delimited(quote, values),
  openText: (key, text) => `{${key}:${quote}${text}`,
  opener: start,
  closer: end,
});

const section = {
  open: '<｜tool▁calls▁begin｜>',
  close: '<｜tool▁calls▁end｜>',
  args: 'json',
  drafts: true,
} as const;
const THINKING = { chat_template_kwargs: { thinking: true } };

export const WRITERS: readonly Writer[] = [
  tagged('hermes', '<tool_call>\n', '\n</tool_call>', { reasoning: 'qwen3' }),
  xml('qwen3', 'qwen3_xml', 'tool_call', '\n'),
  xml('step3p5', 'step3p5', 'tool_call', '\n'),
  xml('seed_oss', 'seed_oss', 'seed:tool_call', '', { think: ['<seed:think>', '</seed:think>'] }),
  {
    ...section,
    reasoning: 'deepseek_r1',
    tools: 'deepseek_v3',
    head: (name) => `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n`,
    tail: '\n```<｜tool▁call▁end｜>',
    between: '\n',
  },
  {
    ...section,
    reasoning: 'deepseek_v3',
    tools: 'deepseek_v31',
    switch: THINKING,
    head: (name) => `<｜tool▁call▁begin｜>${name}<｜tool▁sep｜>`,
    tail: '<｜tool▁call▁end｜>',
  },
  dsml('deepseek_v3', 'deepseek_v32', 'function_calls', '', { switch: THINKING, drafts: true }),
  dsml('deepseek_v4', 'deepseek_v4', 'tool_calls'),
  dsml('deepseek_v41', 'deepseek_v41', 'calls', ' '),
  dsml(
    'gigachat35',
    'gigachat35',
    'tool_calls',
    '',
    { switch: { chat_template_kwargs: { reasoning: true } } },
    '｜GCML｜',
  ),
  {
    reasoning: 'kimi_k2',
    tools: 'kimi_k2',
    open: '<|tool_calls_section_begin|>',
    close: '<|tool_calls_section_end|>',
    head: (name) => `<|tool_call_begin|>functions.${name}:0<|tool_call_argument_begin|>`,
    tail: '<|tool_call_end|>',
    args: 'json',
  },
  {
    reasoning: 'kimi_k3',
    tools: 'kimi_k3',
    think: ['<|open|>think<|sep|>', '<|close|>think<|sep|>'],
    open: '<|open|>tools<|sep|>',
    close: '<|close|>tools<|sep|>',
    head: (name) => `<|open|>call tool="${name}" index="1"<|sep|>`,
    tail: '<|close|>call<|sep|>',
    args: each((key, value) => {
      const type = typeof value === 'string' ? 'string' : 'object';
      return `<|open|>argument key="${key}" type="${type}"<|sep|>${plain(value)}<|close|>argument<|sep|>`;
    }),
    openText: (key, text) => `<|open|>argument key="${key}" type="string"<|sep|>${text}`,
  },
  {
    reasoning: 'minimax_m2',
    tools: 'minimax_m2',
    open: '<minimax:tool_call>\n',
    close: '</minimax:tool_call>',
    head: (name) => `<invoke name="${name}">\n`,
    tail: '</invoke>\n',
    args: each((key, value) => `<parameter name="${key}">${plain(value)}</parameter>\n`),
    openText: (key, text) => `<parameter name="${key}">${text}`,
  },
  {
    reasoning: null,
    tools: 'dots',
    open: '<dots_function_call>\n',
    close: '</dots_function_call>',
    head: (name) => `<invoke name="${name}">\n`,
    tail: '</invoke>\n',
    args: each((key, value) => `<parameter name="${key}">\n${plain(value)}\n</parameter>\n`),
    openText: (key, text) => `<parameter name="${key}">\n${text}`,
  },
  {
    reasoning: 'plamo3',
    tools: 'plamo3',
    think: ['<|plamo:begin_think:plamo|>', '<|plamo:end_think:plamo|>'],
    isSpelled: true,
    open: '<|plamo:begin_tool_requests:plamo|>',
    close: '<|plamo:end_tool_requests:plamo|>',
    head: (name) =>
      `<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>${name}<|plamo:end_tool_name:plamo|>` +
      '<|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>',
    tail: '<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>',
    args: 'json',
    drafts: true,
  },
  {
    reasoning: 'minimax_m3',
    tools: 'minimax_m3',
    think: ['<mm:think>', '</mm:think>'],
    isSpelled: true,
    open: `${MARK}<tool_call>\n`,
    close: `${MARK}</tool_call>`,
    head: (name) => `${MARK}<invoke name="${name}">`,
    tail: `${MARK}</invoke>\n`,
    args: each(element),
    openText: (key, text) => `${MARK}<${key}>${text}`,
  },
  pairs('glm45', '\n'),
  pairs('glm47', ''),
  pairs('ling3', ''),
  pairs('poolside_v1', '\n', { switch: THINKING, drafts: true }),
  {
    ...pairs('hy_v3', '\n'),
    switch: { chat_template_kwargs: { reasoning_effort: 'high' } },
    open: '<tool_calls>\n',
    close: '\n</tool_calls>',
    head: (name) => `<tool_call>${name}<tool_sep>\n`,
    opener: undefined,
    closer: undefined,
  },
  {
    reasoning: 'solar_open2',
    tools: 'solar_open2',
    think: ['<|think:start|>', '<|think:end|>'],
    head: (name) => `<|tool_call:start|>${name}\n`,
    tail: '<|tool_call:end|>',
    args: each((key, value) => `<|tool_arg:start|>${key}<|tool_arg:value|>${plain(value)}<|tool_arg:end|>\n`),
    openText: (key, text) => `<|tool_arg:start|>${key}<|tool_arg:value|>${text}`,
    between: '\n',
    opener: '<|tool_call:start|>',
    closer: '<|tool_call:end|>',
  },
  {
    reasoning: 'k2_horizon',
    tools: 'k2_horizon',
    think: ['<ifm|think_fast>', '</ifm|think_fast>'],
    open: '<ifm|tool_calls>\n',
    close: '\n</ifm|tool_calls>',
    head: (name) => `<ifm|tool_call>${name}\n`,
    tail: '</ifm|tool_call>',
    args: each(
      (key, value) => `<ifm|arg_key>${key}</ifm|arg_key>\n<ifm|arg_value>${plain(value)}</ifm|arg_value>\n`,
    ),
    openText: (key, text) => `<ifm|arg_key>${key}</ifm|arg_key>\n<ifm|arg_value>${text}`,
    between: '\n',
  },
  tagged('longcat', '<longcat_tool_call>\n', '\n</longcat_tool_call>'),
  listed('granite', '<|tool_call|>[', ']', {
    reasoning: 'granite',
    think: ['Here is my thought process:', 'Here is my response:'],
    isSpelled: true,
    drafts: true,
  }),
  tagged('granite4', '<tool_call>\n', '\n</tool_call>'),
  tagged('granite-20b-fc', '<function_call> ', '', { between: ' ' }),
  tagged('ernie45', '<tool_call>\n', '\n</tool_call>', { reasoning: 'ernie45', drafts: true }),
  listed('hunyuan_a13b', '<tool_calls>[', ']</tool_calls>', {
    reasoning: 'hunyuan_a13b',
    isSpelled: true,
    drafts: true,
  }),
  listed('apriel', '<tool_calls>[', ']</tool_calls>', {
    reasoning: 'apriel',
    think: ['Here are my reasoning steps:', '[BEGIN FINAL RESPONSE]'],
    thinksOnce: true,
  }),
  listed('minimax', '<tool_calls>\n', '\n</tool_calls>', {
    reasoning: 'think_tags',
    between: '\n',
    drafts: true,
  }),
  {
    reasoning: 'qwen3',
    tools: 'mirothinker',
    head: (name) =>
      `<use_mcp_tool>\n<server_name>search</server_name>\n<tool_name>${name}</tool_name>\n<arguments>\n`,
    tail: '\n</arguments>\n</use_mcp_tool>',
    args: 'json',
    between: '\n',
    opener: '<use_mcp_tool>\n',
    closer: '\n</use_mcp_tool>',
  },
  listed('jamba', '<tool_calls>[', ']</tool_calls>'),
  tagged('internlm', '<|action_start|><|plugin|>\n', '<|action_end|>', {
    head: (name) => `<|action_start|><|plugin|>\n${object(name, 'parameters')}`,
  }),
  listed('phi4_mini_json', 'functools[', ']'),
  listed('phi4_mini', '<|tool_call|>[', ']<|/tool_call|>'),
  listed('xlam', '[', ']', { isBare: true }),
  tagged('gigachat3', 'function call<|role_sep|>\n', '', { between: '<|message_sep|>\n\n' }),
  listed('apertus', '<|tools_prefix|>[', ']<|tools_suffix|>', {
    reasoning: 'apertus',
    think: ['<|inner_prefix|>', '<|inner_suffix|>'],
    head: (name) => `{${json(name)}: `,
  }),
  listed('cohere_command3', '<|START_ACTION|>[\n    ', '\n]<|END_ACTION|>', {
    reasoning: 'cohere_command3',
    think: ['<|START_THINKING|>', '<|END_THINKING|>'],
    head: (name) => `{"tool_call_id": "0", "tool_name": ${json(name)}, "parameters": `,
  }),
  {
    ...delimitedCalls('gemma4', '<|tool_call>', '<tool_call|>', '<|"|>'),
    reasoning: 'gemma4',
    think: ['<|channel>thought\n', '<channel|>'],
  },
  delimitedCalls('functiongemma', '<start_function_call>', '<end_function_call>', '<escape>'),
  calls('olmo3', '<function_calls>\n', '\n</function_calls>', '\n', {
    reasoning: 'olmo3',
    isSpelled: true,
    drafts: true,
  }),
  calls('lfm2', '<|tool_call_start|>[', ']<|tool_call_end|>', ', ', { reasoning: 'think_tags' }),
  calls('pythonic', '[', ']', ', ', { isBare: true }),
  calls('llama4_pythonic', '<|python_start|>[', ']<|python_end|>', ', ', {}),
  tagged('llama3_json', '<|python_tag|>', '', {
    head: (name) => `<|python_tag|>${object(name, 'parameters')}`,
    between: '; ',
  }),
  tagged('llama4_json', '<|python_start|>', '<|python_end|>', {
    head: (name) => `<|python_start|>${object(name, 'parameters')}`,
    between: '; ',
    closer: undefined,
  }),
  {
    reasoning: 'mistral',
    tools: 'mistral',
    think: ['[THINK]', '[/THINK]'],
    head: (name) => `[TOOL_CALLS]${name}[ARGS]`,
    args: 'json',
    opener: '[TOOL_CALLS]',
  },
  {
    reasoning: 'think_tags',
    tools: 'minicpm5',
    head: (name) => `<function name="${name}">`,
    tail: '</function>',
    args: each((key, value) => `<param name="${key}">${plain(value)}</param>`),
    openText: (key, text) => `<param name="${key}">${text}`,
    between: '\n',
    drafts: true,
    isStrict: true,
  },
  {
    reasoning: 'step3',
    tools: 'step3',
    open: '<｜tool_calls_begin｜>\n',
    close: '\n<｜tool_calls_end｜>',
    head: (name) => `<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="${name}">\n`,
    tail: '</steptml:invoke><｜tool_call_end｜>',
    args: each((key, value) => `<steptml:parameter name="${key}">${plain(value)}</steptml:parameter>\n`),
    openText: (key, text) => `<steptml:parameter name="${key}">${text}`,
    between: '\n',
    drafts: true,
  },
];
