/** Checks requests for completions of raw prompts. */
import type { GenerateJob, GivenPrompt } from '../protocol.ts';
import { type ConstraintContext, readConstraint } from './constraint.ts';
import { badType, badValue, booleanField, type Fields, isObject, numberField } from './fields.ts';
import {
  checkModel,
  mostChoices,
  type PreparedRequest,
  type RequestContext,
  readMaxTokens,
  readSampling,
  readStop,
  readStreamOptions,
} from './request.ts';
import { mostTopLogprobs, readTokenFields } from './token-fields.ts';
import { checkFields, readIds } from './tokens.ts';

/** As OpenAI has it. */
const defaultMaxTokens = 16;

/** Fields of a request. */
export const textFields: readonly string[] = [
  'prompt',
  'model',
  'max_tokens',
  'echo',
  'logprobs',
  'add_special_tokens',
  'best_of',
  'stream',
  'stream_options',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'logit_bias',
  'n',
  'seed',
  'stop',
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'stop_token_ids',
  'min_tokens',
  'ignore_eos',
  'skip_special_tokens',
  'return_token_ids',
  'response_format',
  'structured_outputs',
  'user',
];

/** A request that was found good. */
export interface PreparedText {
  /** One a prompt. */
  requests: PreparedRequest[];
  choices: number;
  stream: boolean;
  includeUsage: boolean;
  echo: boolean;
  /** `null` for none. */
  logprobs: number | null;
  returnTokenIds: boolean;
}

/** Throws a `BadRequestError` that names the field. */
export function prepareText(body: unknown, context: RequestContext): PreparedText {
  if (!isObject(body)) throw badType('body', 'an object with a prompt', body);
  const { suffix, ...fields } = body;
  if (suffix !== undefined && suffix !== null) {
    throw badValue(
      'suffix',
      "'suffix' is not supported: the engine writes behind a prompt, not in between. For a model trained to fill in, put its own markers into the prompt.",
      'unsupported_parameter',
    );
  }
  checkFields(fields, textFields);
  checkModel(body.model, context.modelId);
  const echo = booleanField(body, 'echo', false);
  const choices = numberField(body, 'n', { min: 1, max: mostChoices, integer: true }) ?? 1;
  checkBestOf(body, choices);
  const stream = booleanField(body, 'stream', false);
  const includeUsage = readStreamOptions(body.stream_options, stream);
  const logprobs = numberField(body, 'logprobs', { min: 0, max: mostTopLogprobs, integer: true }) ?? null;
  const returnTokenIds = booleanField(body, 'return_token_ids', false);
  const job = readJob(fields, context, { choices, logprobs, leastTokens: echo ? 0 : 1 });
  const requests = readPrompts(body, context.vocabularySize).map((prompt) => ({
    job: { ...job, prompt, promptLogprobs: echo && logprobs !== null },
    stream: true,
    includeUsage: true,
    includeDetails: false,
    stop: readStop(body.stop),
    parallelToolCalls: true,
    deliverCalls: true,
    deliverReasoning: true,
    // Where logprobs begin in the text is known by their ids.
    returnTokenIds: returnTokenIds || logprobs !== null,
    skipSpecialTokens: booleanField(body, 'skip_special_tokens', true),
    echo: null,
    placement: null,
    declaredTools: [],
    callsInHistory: 0,
  }));
  return { requests, choices, stream, includeUsage, echo, logprobs, returnTokenIds };
}

/** All of a job but its prompt. */
function readJob(
  { logprobs: _, ...body }: Fields,
  context: RequestContext,
  { choices, logprobs, leastTokens }: { choices: number; logprobs: number | null; leastTokens: number },
): GenerateJob {
  const maxTokens = readMaxTokens(body, leastTokens) ?? defaultMaxTokens;
  const unparsed: ConstraintContext = { ...context, format: { reasoning: null, tools: null } };
  const constraint = readConstraint(body, { offered: null, declared: [], choice: 'auto' }, true, unparsed);
  return {
    messages: [],
    tools: null,
    templateArguments: {},
    sampling: readSampling(body),
    maxTokens,
    choices,
    constraint,
    ...readTokenFields(body, context.vocabularySize, { maxTokens, constraint }),
    logprobs,
  };
}

function checkBestOf(body: Fields, choices: number): void {
  const bestOf = numberField(body, 'best_of', { min: 1, max: mostChoices, integer: true });
  if (bestOf === undefined || bestOf === choices) return;
  throw badValue(
    'best_of',
    `'best_of' is ${bestOf} and 'n' is ${choices}: the engine does not choose among more answers than it gives.`,
    'unsupported_value',
  );
}

function readPrompts(body: Fields, vocabularySize: number): GivenPrompt[] {
  const { prompt } = body;
  const addSpecialTokens = booleanField(body, 'add_special_tokens', true);
  const expected = 'a text, token ids, or an array of either';
  const text = (given: string): GivenPrompt => ({ text: given, addSpecialTokens });
  if (typeof prompt === 'string') return [text(prompt)];
  if (!Array.isArray(prompt)) throw badType('prompt', expected, prompt);
  if (prompt.length === 0) throw badValue('prompt', "'prompt' is empty; give a text or ids.", 'empty_array');
  if (Array.from(prompt).every((part) => typeof part === 'number')) {
    return [{ ids: readIds(prompt, 'prompt', vocabularySize) }];
  }
  return Array.from(prompt, (part: unknown, index) => {
    const path = `prompt[${index}]`;
    if (typeof part === 'string') return text(part);
    if (!Array.isArray(part)) throw badType(path, 'a text or an array of token ids', part);
    return { ids: readIds(part, path, vocabularySize) };
  });
}
