import { ModelNotFoundError } from '../errors.ts';
import type { GenerateJob, SamplingOptions } from '../protocol.ts';
import { type ConstraintContext, readConstraint } from './constraint.ts';
import { checkFieldNames } from './field-names.ts';
import {
  badType,
  badValue,
  booleanField,
  type Fields,
  isObject,
  jsonCopy,
  numberField,
  shown,
} from './fields.ts';
import { readMessages } from './messages.ts';
import { type Echo, readPromptEnd } from './prompt-end.ts';
import { type ReasoningField, ReasoningPlacement, reasoningFields } from './reasoning-field.ts';
import { readTokenFields } from './token-fields.ts';
import { type DeclaredTool, readTools } from './tools.ts';

/** What a request is checked against. */
export interface RequestContext extends ConstraintContext {
  /** The loaded model's id. */
  modelId: string;
  /** Its token ids are below this. */
  vocabularySize: number;
  /** `false`: tools are not offered to the model, call markup stays text. */
  toolCalling: boolean;
  /** Why tools cannot be used with this model; `null` where they can. */
  toolsUnavailable: string | null;
  /** Where answers have their reasoning unless the request says. Default `reasoning`. */
  reasoningField?: ReasoningField;
}

/** A request that was found good. */
export interface PreparedRequest {
  job: GenerateJob;
  stream: boolean;
  includeUsage: boolean;
  includeDetails: boolean;
  stop: string[];
  parallelToolCalls: boolean;
  deliverCalls: boolean;
  deliverReasoning: boolean;
  returnTokenIds: boolean;
  /** `false`: control tokens are text. */
  skipSpecialTokens: boolean;
  echo: Echo | null;
  /** Puts the reasoning elsewhere than in `reasoning`. */
  placement: ReasoningPlacement | null;
  declaredTools: DeclaredTool[];
  /** Calls in the assistant messages, for call ids that count on. */
  callsInHistory: number;
}

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** OpenAI's own limit. */
export const mostChoices = 128;

/** Checks a request body. Throws a `BadRequestError` that names the field, before anything runs. */
export function prepareRequest(body: unknown, context: RequestContext): PreparedRequest {
  if (!isObject(body)) throw badType('body', 'an object with messages', body);
  checkFieldNames(body);
  checkModel(body.model, context.modelId);
  const reasoningField = readReasoningField(body, context.reasoningField ?? 'reasoning');
  const messages = readMessages(body.messages, reasoningField === 'content');
  const tools = readTools(body);
  const offered = context.toolCalling ? tools.offered : null;
  if (offered && context.toolsUnavailable) {
    throw badValue('tools', context.toolsUnavailable, 'unsupported_parameter');
  }
  if (!offered && tools.choice !== 'auto' && tools.choice !== 'none') {
    throw badValue(
      'tool_choice',
      "Tool calling is switched off in this engine: remove 'tool_choice'.",
      'unsupported_value',
    );
  }
  const stream = booleanField(body, 'stream', false);
  const parallelToolCalls = booleanField(body, 'parallel_tool_calls', true);
  const deliverReasoning = booleanField(body, 'include_reasoning', true);
  const returnTokenIds = booleanField(body, 'return_token_ids', false);
  const maxTokens = readMaxTokens(body);
  const constraint = readConstraint(body, { ...tools, offered }, parallelToolCalls, context);
  const includeDetails = booleanField(body, 'include_details', false);
  const tokenFields = readTokenFields(body, context.vocabularySize, { maxTokens, constraint });
  const { promptEnd, echo } = readPromptEnd(body, messages, constraint);
  return {
    job: {
      messages,
      tools: offered,
      templateArguments: readTemplateArguments(body),
      promptEnd,
      sampling: readSampling(body),
      maxTokens,
      choices: numberField(body, 'n', { min: 1, max: mostChoices, integer: true }) ?? 1,
      constraint,
      ...tokenFields,
      // Reasoning could be read from them.
      logprobs: deliverReasoning ? tokenFields.logprobs : null,
      ...(includeDetails && { tellsAllowed: true }),
    },
    stream,
    includeUsage: readStreamOptions(body.stream_options, stream),
    includeDetails,
    stop: readStop(body.stop),
    parallelToolCalls,
    deliverCalls: tools.choice !== 'none',
    deliverReasoning,
    returnTokenIds: returnTokenIds && deliverReasoning,
    skipSpecialTokens: booleanField(body, 'skip_special_tokens', true),
    echo: echo && { ...echo, reasoning: deliverReasoning ? echo.reasoning : null },
    placement: reasoningField === 'reasoning' ? null : new ReasoningPlacement(reasoningField),
    declaredTools: tools.declared,
    callsInHistory: messages.reduce((count, message) => count + (message.tool_calls?.length ?? 0), 0),
  };
}

/** The id that a request names must be the loaded model's. */
export function checkModel(model: unknown, loaded: string): void {
  if (model === undefined || model === null) return;
  if (typeof model !== 'string') throw badType('model', 'the id of the loaded model', model);
  if (model !== loaded) {
    throw new ModelNotFoundError(
      `The model ${shown(model)} is not loaded; this engine runs ${shown(loaded)}. ` +
        "Leave 'model' out, or make an engine for the other model with createEngine({ model }).",
      { param: 'model', code: 'model_not_found' },
    );
  }
}

function readReasoningField(body: Fields, otherwise: ReasoningField): ReasoningField {
  const field = body.reasoning_field ?? otherwise;
  const known = reasoningFields.find((name) => name === field);
  if (known) return known;
  throw badValue(
    'reasoning_field',
    `'reasoning_field' must be one of ${reasoningFields.join(', ')}; got ${shown(field)}.`,
  );
}

/** With a reasoning effort and no word on thinking, the effort decides it. */
function readTemplateArguments(body: Fields): Record<string, unknown> {
  const given = body.chat_template_kwargs ?? {};
  if (!isObject(given)) throw badType('chat_template_kwargs', 'an object', given);
  const copy = jsonCopy(given, 'chat_template_kwargs');
  const templateArguments: Record<string, unknown> = isObject(copy) ? copy : {};
  const effort = body.reasoning_effort ?? null;
  if (effort === null) return templateArguments;
  if (typeof effort !== 'string' || !efforts.includes(effort)) {
    throw badValue(
      'reasoning_effort',
      `'reasoning_effort' must be one of ${efforts.join(', ')}; got ${shown(effort)}.`,
    );
  }
  return { enable_thinking: effort !== 'none', reasoning_effort: effort, ...templateArguments };
}

export function readSampling(body: Fields): Partial<SamplingOptions> {
  const topK = numberField(body, 'top_k', { min: -1, max: Number.MAX_SAFE_INTEGER, integer: true });
  const read: { [name in keyof SamplingOptions]: SamplingOptions[name] | undefined } = {
    temperature: numberField(body, 'temperature', { min: 0, max: 2 }),
    topP: numberField(body, 'top_p', { min: 0, max: 1, above: true }),
    topK: topK === -1 ? 0 : topK,
    minP: numberField(body, 'min_p', { min: 0, max: 1 }),
    repetitionPenalty: numberField(body, 'repetition_penalty', { min: 0, max: 100, above: true }),
    presencePenalty: numberField(body, 'presence_penalty', { min: -2, max: 2 }),
    frequencyPenalty: numberField(body, 'frequency_penalty', { min: -2, max: 2 }),
    seed: numberField(body, 'seed', {
      min: Number.MIN_SAFE_INTEGER,
      max: Number.MAX_SAFE_INTEGER,
      integer: true,
    }),
  };
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
}

/** @param min the least that may be asked for */
export function readMaxTokens(body: Fields, min = 1): number | null {
  const range = { min, max: Number.MAX_SAFE_INTEGER, integer: true };
  const older = numberField(body, 'max_tokens', range);
  const newer = numberField(body, 'max_completion_tokens', range);
  if (older !== undefined && newer !== undefined && older !== newer) {
    throw badValue(
      'max_tokens',
      `'max_tokens' is ${older} and 'max_completion_tokens' is ${newer}; they mean the same, so give one.`,
    );
  }
  return newer ?? older ?? null;
}

export function readStop(stop: unknown): string[] {
  if (stop === undefined || stop === null) return [];
  const strings: unknown[] = Array.isArray(stop) ? stop : [stop];
  if (strings.length > 4) {
    throw badValue(
      'stop',
      `'stop' may hold up to 4 strings; got ${strings.length}.`,
      'array_above_max_length',
    );
  }
  return Array.from(strings, (string, index) => {
    const param = Array.isArray(stop) ? `stop[${index}]` : 'stop';
    if (typeof string !== 'string') throw badType(param, 'a string', string);
    if (string === '') throw badValue(param, `'${param}' is empty; remove it.`);
    return string;
  });
}

export function readStreamOptions(options: unknown, stream: boolean): boolean {
  if (options === undefined || options === null) return false;
  if (!isObject(options)) throw badType('stream_options', 'an object', options);
  if (!stream) {
    throw badValue('stream_options', "'stream_options' needs 'stream: true'; remove it or stream.");
  }
  for (const [name, value] of Object.entries(options)) {
    if (name === 'include_usage' || value === undefined || value === null) continue;
    throw badValue(
      `stream_options.${name}`,
      `'stream_options.${name}' is not supported; remove it.`,
      'unsupported_parameter',
    );
  }
  return booleanField(options, 'include_usage', false, 'stream_options.include_usage');
}
