import type { PreparedRequest } from '../chat/request.ts';
import type { Vocabulary } from '../detokenizer/vocabulary.ts';
import { loadFormat } from '../formats/index.ts';
import { spellings } from '../parser/format.ts';
import { createParser, type HeldAnswer, heldFormat, type MessageFormat } from '../parser/index.ts';
import type { Parser } from '../parser/parser.ts';
import { continuedText } from '../protocol.ts';
import type { PromptSession, RenderedPrompt } from './prompts.ts';

/** Makes parsers for the answer to a request: for one that comes as token ids, or as text. */
export async function parsersOf(
  { model, vocabulary, format: chosen }: PromptSession,
  { job, declaredTools, callsInHistory, skipSpecialTokens }: PreparedRequest,
  prompt: RenderedPrompt,
): Promise<(kind: 'ids' | 'text') => Parser> {
  const { reasoning, tools } = chosen.report;
  const format = await loadFormat({ reasoning, tools });
  const { templateArguments, promptEnd, stopTokenIds = [] } = job;
  const content = job.constraint?.content ?? null;
  const grammar: HeldAnswer | null = content && {
    calls: false,
    content: true,
    isVerbatim: content.kind !== 'json',
  };
  const names = declaredTools.map(({ name }) => name);
  return (kind) =>
    kind === 'ids'
      ? chosen.createParser({
          tools: declaredTools,
          templateArguments,
          callsInHistory,
          stopTokenIds: [...stopTokenIds, ...(job.ignoreEos ? [] : model.eosTokenIds)],
          showsControlTokens: !skipSpecialTokens,
          promptTokenIds: prompt.ids,
          promptEnd,
          grammar,
        })
      : createParser({
          format: grammar ? heldFormat(format, grammar, names) : format,
          tools: declaredTools,
          templateArguments,
          callsInHistory,
          prompt: { text: format.channels ? prompt.text : turnTail(format, prompt.ids, vocabulary) },
          continues: continuedText(promptEnd),
        });
}

/** The text of a prompt behind its last turn boundary, which is a control token that is no marker of reasoning. */
function turnTail({ reasoning }: MessageFormat, ids: Uint32Array, vocabulary: Vocabulary): string {
  const markers = reasoning
    ? [reasoning.start, reasoning.end].flatMap((name) => spellings(reasoning.terminals[name]!))
    : [];
  let begin = ids.length;
  while (begin > 0) {
    const id = ids[begin - 1]!;
    const text = vocabulary.text(id);
    const isPart = text !== '' && markers.some((marker) => marker.includes(text));
    if (vocabulary.isSpecial(id) && !isPart) break;
    begin--;
  }
  const detokenizer = vocabulary.createDetokenizer();
  let tail = '';
  for (const id of ids.subarray(begin)) tail += detokenizer.push(id);
  return tail + detokenizer.flush();
}
