import { describe, expect, it } from 'vitest';
import { agree } from './agree.ts';
import { walkedFormats } from './subject.ts';

const isLong = process.env.TOKENPRISM_LONG === '1';

/** One format of each kind, in a large vocabulary too. */
const KINDS = [
  'hermes',
  'qwen3_coder',
  'glm45',
  'deepseek_v4',
  'gptoss',
  'llama3_json',
  'pythonic',
  'gemma4',
  'minimax_m3',
];

describe.each(await walkedFormats())('%s', (format) => {
  const vocabularies = KINDS.includes(format) ? (['tiny', 'qwen3'] as const) : (['tiny'] as const);
  it.each(vocabularies)('reads what its grammar wrote, in the vocabulary of %s', async (vocabulary) => {
    // Each in another mode, so that all formats together go through every one. Walks in a large vocabulary take long.
    const walks = vocabulary === 'tiny' || isLong ? 13 : 6;
    const seed = `${format} ${vocabulary}`;
    const { passed, failures } = await agree({ format, walks, seed, run: 1, vocabulary });
    expect(failures).toEqual([]);
    expect(passed).toBeGreaterThan(walks / 2);
  });
});
