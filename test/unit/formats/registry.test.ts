import { describe, expect, it } from 'vitest';
import { catalogue, formatNames, loadFormat } from '../../../src/formats/index.ts';

/** Names under which vLLM knows its parsers. */
const REASONING = [
  ...['cohere_command3', 'cohere_command4', 'deepseek_r1', 'deepseek_v3', 'deepseek_v4', 'deepseek_v41'],
  ...[
    'ernie45',
    'gemma4',
    'gigachat35',
    'glm45',
    'glm47',
    'granite',
    'granite_thinking_parser',
    'holo2',
    'hunyuan_a13b',
  ],
  ...['hy_v3', 'hy_v4', 'inkling', 'kimi_k2', 'kimi_k3', 'ling3', 'mimo', 'minimax_m2'],
  ...['minimax_m2_append_think', 'minimax_m3', 'mistral', 'nemotron_v3', 'olmo3', 'openai_gptoss'],
  ...['k2_horizon', 'plamo3', 'poolside_v1', 'qwen3', 'seed_oss', 'solar_open2', 'step3', 'step3p5'],
];
const TOOLS = [
  ...['apertus', 'cohere_command3', 'cohere_command4', 'deepseek_v3', 'deepseek_v31', 'deepseek_v32'],
  ...[
    'deepseek_v4',
    'deepseek_v41',
    'ernie45',
    'functiongemma',
    'gemma4',
    'gigachat3',
    'gigachat35',
    'glm45',
    'glm47',
  ],
  ...['granite', 'granite-20b-fc', 'granite4', 'hermes', 'hunyuan_a13b', 'hy_v3', 'hy_v4', 'inkling'],
  ...['internlm', 'jamba', 'kimi_k2', 'kimi_k3', 'lfm2', 'ling3', 'llama3_json', 'llama4_json'],
  ...['llama4_pythonic', 'longcat', 'mimo', 'minicpm5', 'minimax_m2', 'minimax_m3', 'mistral', 'olmo3'],
  ...['openai', 'phi4_mini_json', 'poolside_v1', 'pythonic', 'qwen3_coder', 'qwen3_xml', 'seed_oss'],
  ...['dots', 'k2_horizon', 'minimax', 'plamo3', 'solar_open2', 'step3', 'step3p5', 'xlam'],
];

describe('the names of vLLM', () => {
  it.each(REASONING)('reasoning: %s', async (name) => {
    const { reasoning, channels } = await loadFormat({ reasoning: name, tools: null });
    expect(reasoning ?? channels).not.toBeNull();
  });

  it.each(TOOLS)('tools: %s', async (name) => {
    const { tools, channels } = await loadFormat({ reasoning: null, tools: name });
    expect(tools ?? channels).not.toBeNull();
  });
});

describe('the registry', () => {
  it('names what the family files have, no more and no less', async () => {
    const formats = await catalogue();
    const names = (...kinds: string[]) =>
      formats
        .filter(({ kind }) => kinds.includes(kind))
        .flatMap(({ name, aliases }) => [name, ...aliases])
        .sort();
    // A family with channels lists under each kind the names that servers know there.
    const channels = new Set(names('channels'));
    const without = (all: readonly string[]) => all.filter((name) => !channels.has(name)).sort();
    expect(without(formatNames.reasoning)).toEqual(names('reasoning'));
    expect(without(formatNames.tools)).toEqual(names('tools'));
    const known = new Set<string>([...formatNames.reasoning, ...formatNames.tools]);
    expect([...channels].filter((name) => !known.has(name))).toEqual([]);
  });

  it('gives an alias the format of its name', async () => {
    expect((await loadFormat({ reasoning: null, tools: 'qwen3_xml' })).tools).toBe(
      (await loadFormat({ reasoning: null, tools: 'qwen3_coder' })).tools,
    );
  });

  it.each([
    [{ reasoning: 'qwen', tools: null }, 'reasoningParser'],
    [{ reasoning: null, tools: 'deepseek' }, 'toolParser'],
  ])('refuses a name that is not known: %j', async (names, param) => {
    await expect(loadFormat(names)).rejects.toMatchObject({ code: 'unknown_format', param });
  });

  it('refuses channels with the format of another family', async () => {
    await expect(loadFormat({ reasoning: 'openai_gptoss', tools: 'hermes' })).rejects.toMatchObject({
      code: 'format_mismatch',
      param: 'toolParser',
    });
  });
});
