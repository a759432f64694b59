/** What a remote engine reads of a request itself, whoever splits the answer. */
import {
  badType,
  badValue,
  booleanField,
  type Fields,
  isObject,
  numberField,
  shown,
} from '../chat/fields.ts';
import { type ReasoningField, ReasoningPlacement, reasoningFields } from '../chat/reasoning-field.ts';

/** OpenAI's own limit. */
const mostChoices = 128;

/** What any kind of request says of its answer. */
export interface AnswerFields {
  /** The body without what is unset and what is not for the server. */
  body: Fields;
  /** Of one prompt. */
  choices: number;
  stream: boolean;
  includeUsage: boolean;
}

export interface RequestFields extends AnswerFields {
  deliverReasoning: boolean;
  reasoningField: ReasoningField;
  placement: ReasoningPlacement | null;
}

/** Throws a `BadRequestError` that names the field. */
export function readRequest(given: unknown, defaultField: ReasoningField): RequestFields {
  if (!isObject(given)) throw badType('body', 'an object with messages', given);
  const { reasoning_field: field = defaultField, include_details: details, ...body } = setFields(given);
  if (details !== undefined && details !== false) {
    throw badValue(
      'include_details',
      "'include_details' tells of a worker, and a remote engine has none; remove it.",
      'unsupported_parameter',
    );
  }
  const reasoningField = reasoningFields.find((name) => name === field);
  if (!reasoningField) {
    throw badValue(
      'reasoning_field',
      `'reasoning_field' must be one of ${reasoningFields.join(', ')}; got ${shown(field)}.`,
    );
  }
  return {
    ...readAnswerFields(body),
    deliverReasoning: booleanField(body, 'include_reasoning', true),
    reasoningField,
    placement: reasoningField === 'reasoning' ? null : new ReasoningPlacement(reasoningField),
  };
}

/** Clients send null and undefined for what they leave unset. */
export const setFields = (given: object): Fields =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== null));

/** Throws a `BadRequestError` that names the field. */
export function readAnswerFields(given: Fields): AnswerFields {
  const body = setFields(given);
  const stream = booleanField(body, 'stream', false);
  if (!stream && body.stream_options !== undefined) {
    throw badValue('stream_options', "'stream_options' needs 'stream: true'; remove it or stream.");
  }
  return {
    body,
    choices: numberField(body, 'n', { min: 1, max: mostChoices, integer: true }) ?? 1,
    stream,
    includeUsage: !stream || readsUsage(body.stream_options),
  };
}

function readsUsage(options: unknown): boolean {
  if (options === undefined) return false;
  if (!isObject(options)) throw badType('stream_options', 'an object', options);
  return booleanField(options, 'include_usage', false, 'stream_options.include_usage');
}
