/** The page on output formats, made from the formats themselves and the cases that they pass. */
import { readdirSync, readFileSync } from 'node:fs';
import { type CataloguedFormat, catalogue } from '../../src/formats/index.ts';
import { type ReasoningFormat, spellings, type Terminals, type ToolFormat } from '../../src/parser/format.ts';
import { readCases } from './case.ts';
import { formatGuide } from './format-guide.ts';
import { modelsOf } from './format-models.ts';

const root = new URL('../../', import.meta.url);

export async function formatsDocument(): Promise<string> {
  const counts = countCases();
  const formats = await catalogue();
  const rows = (kind: 'reasoning' | 'tools') => formats.filter((format) => format.kind === kind);
  const channels = formats.filter(({ kind }) => kind === 'channels');
  const source = readFileSync(new URL('test/fixtures/example-format.ts', root), 'utf8');
  return `${[
    '# Output formats',
    '<!-- Made by `npm run formats`. -->',
    'The format of a model is recognised from its chat template and its added tokens. `createEngine({ reasoningParser, toolParser })` names one instead; `null` stands for none. A model whose template shows no known format is read as plain text, with a warning that names the option; so is one whose vocabulary lacks a token that the format needs (the distillations of DeepSeek R1 keep the markup of calls in their template, but have no tokens for it). A template that does not mention thoughts tells nothing of them: for a model that writes `<think>` all the same (MiniMax M1), name `think_tags`.',
    '## Reasoning',
    table(
      ['Name', 'Also', 'Models', 'Markers', 'Thinks', 'A call ends it', 'Cases'],
      [
        ...rows('reasoning').map((entry) => reasoningRow(entry, counts)),
        ...channels.map(({ name, aliases, format }) => [
          code(name),
          aliases.map(code).join(', '),
          modelsOf(name),
          markers(format.terminals, 4),
          'by channel',
          'by channel',
          String(counts.reasoning.get(name) ?? 0),
        ]),
      ],
    ),
    '*Thinks*: when the request does not say; a marker in the prompt decides before that, and where it says no, a marker that the model writes still opens the block. `qwen3` and `think_tags` are told apart by how the template begins the turn: `think_tags` where a prompt without a marker does not mean that the model thinks.',
    '## Calls',
    table(
      ['Name', 'Also', 'Models', 'Markers', 'Arguments', 'Grammar', 'Cases'],
      [
        ...rows('tools').map((entry) => toolRow(entry, counts)),
        ...channels.map(({ name, aliases, format }) => [
          code(name),
          aliases.map(code).join(', '),
          modelsOf(name),
          markers(format.terminals, 4),
          'JSON',
          'yes',
          String(counts.tools.get(name) ?? 0),
        ]),
      ],
    ),
    '*Grammar*: calls can be required and held to their schemas. *Cases*: recorded outputs with their right answers in `test/conformance/cases`, each run under every way to cut its stream.',
    'What keys and values the families that write arguments as parameters can hold: [parameters](parameters.md).',
    'Left out: `muse_glimmer` (Muse Glimmer), which vLLM registers for reasoning and calls. Its messages name who they are for, and hold calls as XML; the form is known, and no format is written for it. Nor is there one for the `cofl:` elements of Cohere models behind Command 4, which come in two variants.',
    formatGuide(source),
  ].join('\n\n')}\n`;
}

interface Counts {
  reasoning: Map<string, number>;
  tools: Map<string, number>;
}

function countCases(): Counts {
  const counts: Counts = { reasoning: new Map(), tools: new Map() };
  const add = (map: Map<string, number>, name: string | null) => {
    if (name !== null) map.set(name, (map.get(name) ?? 0) + 1);
  };
  const folder = new URL('test/conformance/cases/', root);
  for (const file of readdirSync(folder)) {
    for (const test of readCases(readFileSync(new URL(file, folder), 'utf8'))) {
      add(counts.reasoning, test.reasoning_parser);
      add(counts.tools, test.tool_parser);
    }
  }
  return counts;
}

const casesOf = (map: ReadonlyMap<string, number>, { name, aliases }: CataloguedFormat) =>
  String([name, ...aliases].reduce((sum, known) => sum + (map.get(known) ?? 0), 0));

function reasoningRow(entry: CataloguedFormat, counts: Counts): string[] {
  const format = entry.format as ReasoningFormat;
  const { terminals, start, end, thinkingByDefault, callEndsReasoning, readSwitch } = format;
  const ends = markers({ start: terminals[start]!, end: terminals[end]! }, 2);
  return [
    code(entry.name),
    entry.aliases.map(code).join(', '),
    modelsOf(entry.name),
    format.keptAfter === undefined ? ends : `${ends}, kept in the content`,
    `${thinkingByDefault ? 'yes' : 'no'}${readSwitch ? '; a switch of its own' : ''}`,
    callEndsReasoning ? 'yes' : 'no',
    casesOf(counts.reasoning, entry),
  ];
}

function toolRow(entry: CataloguedFormat, counts: Counts): string[] {
  const format = entry.format as ToolFormat;
  const openers = Object.keys(format.openers).map((name) => [name, format.terminals[name]!] as const);
  return [
    code(entry.name),
    entry.aliases.map(code).join(', '),
    modelsOf(entry.name),
    markers(Object.fromEntries(openers), 3),
    argumentsOf(format),
    format.writing ? 'yes' : 'no',
    casesOf(counts.tools, entry),
  ];
}

function argumentsOf({ createParameters, writing }: ToolFormat): string {
  if (createParameters) return 'parameters, by schema';
  if (writing?.arguments === 'python') return 'Python literals';
  return writing?.arguments === 'json' ? 'JSON' : 'a notation of their own';
}

/** The usual spelling of the first markers that are more than a character. */
function markers(terminals: Terminals, limit: number): string {
  const texts = Object.values(terminals).map((terminal) => spellings(terminal)[0]!);
  const shown = texts.filter((text) => text.trim().length > 1 || texts.length === 1);
  return (shown.length > 0 ? shown : texts).slice(0, limit).map(code).join(' ');
}

/** In a table a bar ends a cell, in code too. */
const code = (text: string) =>
  `\`${text.replaceAll('\n', '⏎').replaceAll('|', '\\|').replaceAll('`', "'")}\``;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
