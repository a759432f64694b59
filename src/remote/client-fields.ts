import type { Fields } from '../chat/fields.ts';
import type { ChatCompletionCreateParamsBase } from '../chat/types.ts';

/**
 * Whose the fields of a request are. `own`: they say what is rendered, how the answer is split and what of it is told,
 * which is no matter of the server; `checked`: they are checked here and passed on; `passed`: passed on as they are, as
 * fields are that are not known here.
 */
const kinds: Record<keyof ChatCompletionCreateParamsBase, 'own' | 'checked' | 'passed'> = {
  messages: 'own',
  tools: 'own',
  tool_choice: 'own',
  parallel_tool_calls: 'own',
  stream: 'own',
  stream_options: 'own',
  chat_template_kwargs: 'own',
  reasoning_effort: 'own',
  include_reasoning: 'own',
  return_token_ids: 'own',
  skip_special_tokens: 'own',
  add_generation_prompt: 'own',
  continue_final_message: 'own',
  echo: 'own',
  stop: 'own',
  logprobs: 'own',
  top_logprobs: 'own',
  thinking_token_budget: 'own',
  max_completion_tokens: 'own',
  reasoning_field: 'own',
  include_details: 'own',
  max_tokens: 'checked',
  temperature: 'checked',
  top_p: 'checked',
  top_k: 'checked',
  min_p: 'checked',
  repetition_penalty: 'checked',
  presence_penalty: 'checked',
  frequency_penalty: 'checked',
  seed: 'checked',
  n: 'checked',
  logit_bias: 'checked',
  stop_token_ids: 'checked',
  min_tokens: 'checked',
  ignore_eos: 'checked',
  response_format: 'checked',
  structured_outputs: 'checked',
  model: 'passed',
  user: 'passed',
  metadata: 'passed',
  store: 'passed',
  safety_identifier: 'passed',
  prompt_cache_key: 'passed',
};

type Kind = (typeof kinds)[keyof typeof kinds];

/** Fields that are read here. */
export const fieldsReadHere = (body: Fields): Fields =>
  filtered(body, (kind) => kind === 'own' || kind === 'checked');

/** Fields that the server gets. */
export const fieldsOfServer = (body: Fields): Fields => filtered(body, (kind) => kind !== 'own');

const filtered = (body: Fields, takes: (kind: Kind | undefined) => boolean): Fields =>
  Object.fromEntries(Object.entries(body).filter(([name]) => takes(kindOf(name))));

const kindOf = (name: string): Kind | undefined =>
  Object.hasOwn(kinds, name) ? kinds[name as keyof typeof kinds] : undefined;
