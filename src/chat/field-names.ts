/** The names of request fields: those that are honoured, and what to do about the others that clients know. */
import { badType, badValue, type Fields, isObject, shown } from './fields.ts';

/** Fields of a request that have an effect. */
export const honoured: ReadonlySet<string> = new Set([
  'messages',
  'model',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'repetition_penalty',
  'presence_penalty',
  'frequency_penalty',
  'seed',
  'stop',
  'n',
  'stream',
  'stream_options',
  'chat_template_kwargs',
  'include_reasoning',
  'include_details',
  'reasoning_effort',
  'response_format',
  'structured_outputs',
  'thinking_token_budget',
  'logprobs',
  'top_logprobs',
  'logit_bias',
  'stop_token_ids',
  'min_tokens',
  'ignore_eos',
  'return_token_ids',
  'add_generation_prompt',
  'continue_final_message',
  'echo',
  'skip_special_tokens',
  'reasoning_field',
]);

/** Values by which a client says that it does not want what is not there. */
const neutral: Readonly<Record<string, { values: readonly string[]; why: string }>> = {
  modalities: { values: ['["text"]'], why: 'the engine answers with text only' },
  service_tier: { values: ['"auto"', '"default"'], why: 'there is one tier here' },
};

/** OpenAI's and vLLM's fields that have no place here, and what has. */
const instead: Readonly<Record<string, string>> = {
  audio: 'the engine answers with text only; remove it',
  prediction: 'text that came before is drafted without it; remove it',
  verbosity: 'ask for it in a message instead',
  web_search_options: 'the engine searches nothing; offer a tool that does, in tools',
  functions: 'its newer name is tools',
  function_call: 'its newer name is tool_choice',
  guided_json: 'its newer form is structured_outputs: { json }',
  guided_regex: 'its newer form is structured_outputs: { regex }',
  guided_choice: 'its newer form is structured_outputs: { choice }',
  guided_grammar: 'its newer form is structured_outputs: { grammar }',
  chat_template: 'the template is the one of the model; remove it',
  prompt: 'it is a field of completions.create; here there are messages',
  timeout: 'give a signal in the second argument, such as AbortSignal.timeout(…)',
  signal: 'it belongs into the second argument',
};

/** What the fields without effect may be. */
const bookkeeping: Readonly<Record<string, { expected: string; is(value: unknown): boolean }>> = {
  user: { expected: 'a string', is: (value) => typeof value === 'string' },
  metadata: { expected: 'an object', is: isObject },
  store: { expected: 'true or false', is: (value) => typeof value === 'boolean' },
  safety_identifier: { expected: 'a string', is: (value) => typeof value === 'string' },
  prompt_cache_key: { expected: 'a string', is: (value) => typeof value === 'string' },
};

/** Bookkeeping of a hosted service; nothing here depends on it. */
export const withoutEffect: ReadonlySet<string> = new Set(Object.keys(bookkeeping));

/** Throws a `BadRequestError` for a field that is not honoured, by its name. */
export function checkFieldNames(body: Fields): void {
  for (const [name, value] of Object.entries(body)) {
    // Clients send null and undefined for what they leave unset.
    if (honoured.has(name) || value === undefined || value === null) continue;
    if (Object.hasOwn(bookkeeping, name)) {
      const { expected, is } = bookkeeping[name]!;
      if (!is(value)) throw badType(name, expected, value);
      continue;
    }
    const wish = Object.hasOwn(neutral, name) ? neutral[name]! : null;
    if (wish) {
      const text = jsonText(value);
      if (wish.values.includes(text)) continue;
      throw badValue(
        name,
        `'${name}' may be ${wish.values.join(' or ')}, or absent: ${wish.why}; got ${text}.`,
        'unsupported_value',
      );
    }
    const advice = Object.hasOwn(instead, name) ? instead[name]! : 'remove it';
    throw badValue(
      name,
      `'${name}' is not a field that this engine supports: ${advice}.`,
      'unsupported_parameter',
    );
  }
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? shown(value);
  } catch {
    return shown(value);
  }
}
