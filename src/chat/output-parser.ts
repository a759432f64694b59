/**
 * The parser by itself: for output that comes from elsewhere, a recording or another runtime, split exactly as
 * the engine splits its own.
 */
import { Vocabulary } from '../detokenizer/vocabulary.ts';
import { checkVocabulary, loadFormat } from '../formats/index.ts';
import { createParser, type HeldAnswer, heldFormat } from '../parser/index.ts';
import type { ParserDelta } from '../parser/parser.ts';
import type { TokenTable } from '../protocol.ts';
import { ChoiceAssembly } from './choice.ts';
import { CompletionCollector } from './collector.ts';
import { readTools } from './tools.ts';
import type {
  ChatCompletionChoice,
  ChatCompletionChunk,
  ChatCompletionChunkChoice,
  ChatCompletionTool,
  IncompleteToolCalls,
} from './types.ts';

export interface OutputParserOptions {
  /** Name of the reasoning format, `null` for none. */
  reasoningParser: string | null;
  /** Name of the tool format, `null` for none. */
  toolParser: string | null;
  tools?: ChatCompletionTool[] | null;
  toolChoice?: 'auto' | 'none';
  /** The model's vocabulary; needed to feed token ids, unused for text. */
  tokens?: TokenTable | null;
  /** Variables of the chat template, for example `{ enable_thinking: false }`. */
  templateArguments?: Record<string, unknown>;
  /** What the model was given: its ids, or as text what follows the last turn boundary. */
  prompt?: { ids: ArrayLike<number> } | { text: string } | null;
  /** Calls in the messages before this one. */
  callsInHistory?: number;
  /** Matched on content only. */
  stop?: readonly string[];
  parallelToolCalls?: boolean;
  includeReasoning?: boolean;
  incompleteToolCalls?: IncompleteToolCalls;
  /** Set when a grammar led the output behind its reasoning. */
  grammar?: HeldAnswer | null;
}

/** Why the model's output ended: its own end of turn, the token limit, or an abort. */
export type OutputEnd = 'stop' | 'length' | 'abort';

export interface OutputParser {
  /** The next piece of output; its chunks in OpenAI's shape. After a stop string nothing comes any more. */
  feed(delta: ParserDelta): ChatCompletionChunkChoice[];
  /** Ends the output. The last chunk carries the finish reason. */
  finish(end: OutputEnd): ChatCompletionChunkChoice[];
  /** True once the last chunk was given out, by `finish` or a stop string. */
  readonly ended: boolean;
  /** Tokens of reasoning so far; 0 for text. */
  readonly reasoningTokens: number;
  /** The whole choice, collected from the chunks. Only when `ended`. */
  readonly choice: ChatCompletionChoice;
}

/**
 * A parser for one output.
 * @throws BadRequestError for unknown names and malformed tools
 * @throws ModelLoadError when the vocabulary lacks a marker that the format needs
 */
export async function createOutputParser(options: OutputParserOptions): Promise<OutputParser> {
  const { reasoningParser, toolParser, tokens, tools, toolChoice = 'auto' } = options;
  const format = await loadFormat({ reasoning: reasoningParser, tools: toolParser });
  const vocabulary = tokens ? new Vocabulary(tokens) : null;
  if (vocabulary) checkVocabulary(format, vocabulary);
  const declared = tools?.length ? readTools({ tools }).declared : [];
  const names = declared.map(({ name }) => name);
  const parser = createParser({
    format: options.grammar ? heldFormat(format, options.grammar, names) : format,
    tools: declared,
    vocabulary,
    templateArguments: options.templateArguments,
    prompt: options.prompt,
    callsInHistory: options.callsInHistory,
  });
  const assembly = new ChoiceAssembly({
    choice: 0,
    parser,
    stop: options.stop ?? [],
    parallelToolCalls: options.parallelToolCalls ?? true,
    deliverCalls: toolChoice !== 'none',
    deliverReasoning: options.includeReasoning ?? true,
    incompleteToolCalls: options.incompleteToolCalls ?? 'separate',
  });
  const collector = new CompletionCollector();
  const collect = (choices: ChatCompletionChunkChoice[]) => {
    for (const choice of choices) collector.add(chunk(choice));
    return choices;
  };
  return {
    feed: (delta) => collect(assembly.feed(delta)),
    finish: (end) => collect(assembly.end(end === 'stop' ? 'eos' : end)),
    get ended() {
      return assembly.ended;
    },
    get reasoningTokens() {
      return assembly.reasoningTokens;
    },
    get choice() {
      return collector.finish().choices[0]!;
    },
  };
}

const chunk = (choice: ChatCompletionChunkChoice): ChatCompletionChunk => ({
  id: 'output',
  object: 'chat.completion.chunk',
  created: 0,
  model: '',
  choices: [choice],
});
