/** What is walked: a pair of formats in a vocabulary. */
import { formatNames, loadFormat } from '../../src/formats/index.ts';
import { type MessageFormat, spellings } from '../../src/parser/format.ts';
import { Constraints } from '../../worker/grammar/constraints.ts';
import { type BaseName, WalkVocabulary } from './vocabulary.ts';

export interface Subject {
  names: { reasoning: string | null; tools: string };
  format: MessageFormat;
  vocabulary: WalkVocabulary;
  /** Whether markers that need not be tokens are some. */
  areTokens: boolean;
  eosTokenIds: number[];
  constraints: Constraints;
}

/** Reasoning formats that go with tool formats of another name. */
const REASONING: Readonly<Record<string, string | null>> = {
  hermes: 'qwen3',
  qwen3_coder: 'qwen3',
  deepseek_v3: 'deepseek_r1',
  deepseek_v31: 'deepseek_v3',
  deepseek_v32: 'deepseek_v3',
  mirothinker: 'qwen3',
  minimax: 'think_tags',
};

/** A harmony model ends its turn behind a call by one token, behind an answer by another. */
const EOS: Readonly<Record<string, readonly string[]>> = { gptoss: ['<|return|>', '<|call|>'] };

/** Tokens that markers are spelled with. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  kimi_k3: ['<|open|>', '<|close|>', '<|sep|>'],
  plamo3: ['<|plamo:begin_', '<|plamo:end_', ':plamo|>', '<|plamo:constrain|>', '<|plamo:msg|>'],
  gigachat3: ['<|role_sep|>', '<|message_sep|>'],
  internlm: ['<|action_start|>', '<|plugin|>', '<|action_end|>'],
};

/** The same, where a vocabulary need not have them. */
const OPTIONAL_PARTS: Readonly<Record<string, readonly string[]>> = {
  gemma4: ['<|"|>'],
  functiongemma: ['<escape>'],
  minimax_m3: [']<]minimax[>['],
};

/** Tool formats whose calls a grammar can write; of several names of one format the first. */
export async function walkedFormats(): Promise<string[]> {
  const names: string[] = [];
  const seen = new Set<string>();
  for (const name of formatNames.tools) {
    const { tools, channels } = await loadFormat(namesOf(name));
    const own = tools?.name ?? channels?.name ?? name;
    if (!seen.has(own) && (channels || tools?.writing)) names.push(own);
    seen.add(own);
  }
  return names;
}

function namesOf(tools: string): Subject['names'] {
  const same = formatNames.reasoning.find((name) => name === tools) ?? null;
  return { reasoning: Object.hasOwn(REASONING, tools) ? REASONING[tools]! : same, tools };
}

/** @param areTokens markers that need not be tokens are some; otherwise only those that must be, and the base's own */
export async function subjectOf(tools: string, base: BaseName, areTokens: boolean): Promise<Subject> {
  const names = namesOf(tools);
  const format = await loadFormat(names);
  const markers = Object.values(format.terminals)
    .filter(({ token }) => token === 'required' || (areTokens && token === 'optional'))
    .flatMap(spellings);
  const parts = [...(PARTS[tools] ?? []), ...((areTokens && OPTIONAL_PARTS[tools]) || [])];
  const ends = EOS[tools] ?? ['<|im_end|>'];
  const vocabulary = new WalkVocabulary(base, [...markers, ...parts, ...ends]);
  const eosTokenIds = ends.map((text) => vocabulary.added.get(text)!);
  const constraints = new Constraints({
    table: vocabulary.table,
    width: vocabulary.width,
    eosTokenIds,
    encode: (text) => vocabulary.encode(text),
    // What is refused must not depend on how busy the machine is.
    compileLimit: 30_000,
  });
  return { names, format, vocabulary, areTokens, eosTokenIds, constraints };
}

/** Whether it makes a difference that markers are tokens. */
export async function hasOptionalMarkers(tools: string): Promise<boolean> {
  const { terminals } = await loadFormat(namesOf(tools));
  return (
    Object.hasOwn(OPTIONAL_PARTS, tools) || Object.values(terminals).some(({ token }) => token === 'optional')
  );
}
