/**
 * For tests of apps: an engine whose answers are given instead of computed. Worker, protocol, tokenizer,
 * chat template, parser and page are the real ones; only the model is replaced.
 */
import { createEngine, type Engine } from '../engine/engine.ts';
import type { EngineOptions } from '../engine/options.ts';
import { BadRequestError } from '../errors.ts';
import type { ScriptedTurn } from '../protocol.ts';

export type { ScriptedTurn } from '../protocol.ts';

export type ScriptedEngineOptions = Omit<EngineOptions, 'backend' | 'device' | 'dtype'>;

/**
 * An engine that answers its requests with `turns`, in order and round and round: model output with its
 * markers, for example `'<think>\nEasy.\n</think>\n\nFour.'`, or a {@link ScriptedTurn} with delays and faults.
 *
 * ```ts
 * const engine = await createScriptedEngine(['<think>\nEasy.\n</think>\n\nFour.']);
 * ```
 */
export async function createScriptedEngine(
  turns: readonly (string | ScriptedTurn)[],
  options: ScriptedEngineOptions = {},
): Promise<Engine> {
  if (turns.length === 0) {
    throw new BadRequestError('A scripted engine needs at least one turn to answer with.', {
      param: 'turns',
    });
  }
  const scripted = turns.map((turn) => (typeof turn === 'string' ? { text: turn } : turn));
  return createEngine({ ...options, backend: { kind: 'scripted', turns: scripted } });
}
