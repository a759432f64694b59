/** The engines behind the clients, and the tools that they offer. */
import { createEngine, type Engine } from '../../../../src/index.ts';
import { createScriptedEngine } from '../../../../src/testing/index.ts';

export const model = 'tokenprism-tiny';
/** Only its path counts. */
export const baseURL = 'http://engine/v1';

let embedded: Promise<Engine> | null = null;

/** The embedded model, loaded once a page. */
export function embeddedEngine(): Promise<Engine> {
  embedded ??= createEngine({ device: 'wasm', reasoningField: 'both' });
  return embedded;
}

export const question = "What's the weather in Paris in celsius?";
export const cities: Record<string, object> = {
  Paris: { location: 'Paris', temperature: 18, unit: 'celsius', condition: 'cloudy' },
};

const thought = '<think>\nI look it up.\n</think>\n\n';
const cutCall = '<tool_call>\n{"name": "get_weather", "arguments": {"location": "Par';

/** An engine whose model ends its turn inside the arguments of a call. */
export const cutEngine = (): Promise<Engine> =>
  createScriptedEngine([thought + cutCall], { reasoningField: 'both' });

/** The most tokens, so that it is the limit that cuts the call. */
export async function limitBeforeEnd(engine: Engine): Promise<number> {
  const { usage } = await engine.chat.completions.create({
    messages: [{ role: 'user', content: question }],
    tools: [{ type: 'function', function: { name: 'get_weather' } }],
  });
  return usage!.completion_tokens - 1;
}
