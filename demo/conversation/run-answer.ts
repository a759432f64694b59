import {
  type ChatCompletionMessageParam,
  RequestAbortedError,
  type RunnableTool,
  type RunToolsParams,
  runTools,
  type ToolRunEngine,
} from '../../src/index.ts';
import type { LiveAnswer } from './answer.ts';
import { answerMessages, canContinueText, withoutBrokenRound } from './parts.ts';

export interface AnswerRun {
  engine: ToolRunEngine;
  /** The conversation up to the question, this included. */
  history: ChatCompletionMessageParam[];
  tools: readonly RunnableTool[];
  params: Omit<RunToolsParams, 'messages' | 'tools'>;
  /** The most answers of the model in this run. */
  maxRounds: number;
  signal: AbortSignal;
}

/**
 * Writes an answer, or goes on with one that was cut, stopped or ran out of steps. Never rejects: what goes wrong
 * becomes the answer's end.
 *
 * @returns what was thrown, for who has to choose a way on; `null` otherwise
 */
export async function runAnswer(answer: LiveAnswer, run: AnswerRun): Promise<unknown> {
  const { record } = answer;
  const inText = record.end !== null && canContinueText(record.parts, record.end);
  if (!inText) record.parts = withoutBrokenRound(record.parts);
  const messages = [...run.history, ...answerMessages(record.parts)];
  answer.begin({ inLastRound: inText });
  try {
    const events = runTools(
      asked(run.engine, inText),
      { ...run.params, messages, tools: run.tools, include_details: true },
      { maxRounds: run.maxRounds, signal: run.signal, onProgress: (progress) => answer.progress(progress) },
    );
    for await (const event of events) answer.handle(event);
    return null;
  } catch (error) {
    if (run.signal.aborted || error instanceof RequestAbortedError) {
      answer.finish('stopped');
      return null;
    }
    answer.finish('failed', messageOf(error));
    return error;
  }
}

/** An engine as a run needs it: whose first answer goes on inside the last message, where that is wanted. */
function asked(engine: ToolRunEngine, continues: boolean): ToolRunEngine {
  let isFirst = true;
  return {
    chat: {
      completions: {
        create({ tools, ...body }, options) {
          const request = {
            ...body,
            // No tools are no list at all.
            ...(tools?.length && { tools }),
            ...(isFirst && continues && { continue_final_message: true }),
          };
          isFirst = false;
          return engine.chat.completions.create(request, options);
        },
      },
    },
  };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
