/**
 * For tests of apps: an engine whose answers are given instead of computed. Worker, protocol, tokenizer,
 * chat template, parser and page are the real ones; only the model is replaced.
 */
import { createEngine, type Engine } from '../engine/engine.ts';
import type { EngineOptions } from '../engine/options.ts';
import { BadRequestError } from '../errors.ts';
import { isAnswer, type Turn, writtenTurns } from './turns.ts';

export type { ScriptedTurn } from '../protocol.ts';
export type { ScriptedAnswer, Turn } from './turns.ts';

export type ScriptedEngineOptions = Omit<EngineOptions, 'backend' | 'device' | 'dtype'>;

/**
 * An engine that answers its requests with `turns`, in order and round and round: what an answer says, or the model's
 * output with its markers, both with delays and faults where they are wanted.
 *
 * ```ts
 * const engine = await createScriptedEngine([
 *   { reasoning: 'Easy.', content: 'Four.', delay: 20 },
 *   '<think>\nEasy.\n</think>\n\nFour.',
 * ]);
 * ```
 *
 * Rejects with a `BadRequestError` for a wrong turn, and with what `createEngine` throws.
 */
export async function createScriptedEngine(
  turns: readonly Turn[],
  options: ScriptedEngineOptions = {},
): Promise<Engine> {
  const engine = await createEngine({
    ...options,
    backend: { kind: 'scripted', turns: writtenTurns(turns) },
  });
  const { reasoning, tools } = engine.state.format;
  const answer = turns.findIndex(isAnswer);
  if (answer < 0 || (reasoning === 'qwen3' && (tools === 'hermes' || options.toolCalling === false)))
    return engine;
  await engine.close();
  throw new BadRequestError(
    `'turns[${answer}]' is written in the embedded model's format, and this engine reads another one: ` +
      "leave out 'model' and the parsers, or give the model's output as 'text'.",
    { param: `turns[${answer}]` },
  );
}
