import OpenAI from 'openai';
import type { RunnableToolFunctionWithoutParse } from 'openai/lib/RunnableFunction';
import { createEngine, type Engine } from '../../../src/engine/engine.ts';
import type { EngineOptions } from '../../../src/engine/options.ts';
import type { ScriptedTurn } from '../../../src/protocol.ts';
import { type InProcessWorker, scriptedWorker } from '../engine/in-process-worker.ts';

export const messages = [{ role: 'user' as const, content: 'Hi' }];
export const weatherCall =
  '<tool_call>\n{"name": "get_weather", "arguments": {"location": "Rome"}}\n</tool_call>';
/** The same, cut inside the arguments. */
export const cutCall = weatherCall.slice(0, weatherCall.indexOf('me"}'));
/** What of its arguments was written. */
export const cutArguments = '{"location": "Ro';

export const weather = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    parameters: { type: 'object', properties: { location: { type: 'string' } } },
  },
};

/** A runnable tool that notes what it was called with. */
export function weatherTool(calls: string[]): RunnableToolFunctionWithoutParse {
  return {
    type: 'function' as const,
    function: {
      ...weather.function,
      description: 'The weather in a city.',
      function: (args: string) => {
        calls.push(args);
        return '18 degrees';
      },
    },
  };
}

export interface Served {
  engine: Engine;
  /** The client from npm, with nothing but the engine's `fetch` behind it. */
  client: OpenAI;
  worker: InProcessWorker;
}

/** An engine that answers with `turns`, and OpenAI's client on it. */
export async function serveTurns(
  turns: (string | ScriptedTurn)[],
  options: EngineOptions = {},
): Promise<Served> {
  const worker = scriptedWorker(turns.map((turn) => (typeof turn === 'string' ? { text: turn } : turn)));
  const engine = await createEngine({ worker: () => worker as unknown as Worker, ...options });
  const client = new OpenAI({ baseURL: 'http://engine/v1', apiKey: '-', fetch: engine.fetch });
  return { engine, client, worker };
}
