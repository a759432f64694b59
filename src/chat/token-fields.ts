/** The request fields that speak of single tokens. Their ids are those of the loaded model. */
import type { Constraint, GenerateJob } from '../protocol.ts';
import {
  badType,
  badValue,
  booleanField,
  checkNumber,
  type Fields,
  isObject,
  numberField,
} from './fields.ts';

/** OpenAI's own limits. */
export const mostTopLogprobs = 20;
const largestBias = 100;

/** @param job what the request says of the rest */
export function readTokenFields(
  body: Fields,
  vocabularySize: number,
  job: { maxTokens: number | null; constraint: Constraint | null },
): Pick<GenerateJob, 'logprobs' | 'logitBias' | 'stopTokenIds' | 'minTokens' | 'ignoreEos'> {
  return {
    logprobs: readLogprobs(body),
    logitBias: readBias(body.logit_bias ?? {}, vocabularySize),
    stopTokenIds: readStopTokens(body.stop_token_ids ?? [], vocabularySize),
    minTokens: readMinTokens(body, job.maxTokens),
    ignoreEos: readIgnoreEos(body, job.constraint),
  };
}

function readLogprobs(body: Fields): number | null {
  const top = numberField(body, 'top_logprobs', { min: 0, max: mostTopLogprobs, integer: true }) ?? 0;
  if (booleanField(body, 'logprobs', false)) return top;
  if (top > 0) throw badValue('top_logprobs', "'top_logprobs' needs 'logprobs: true'.");
  return null;
}

function readBias(given: unknown, vocabularySize: number): Map<number, number> {
  if (!isObject(given)) throw badType('logit_bias', 'an object of token ids with numbers', given);
  const bias = new Map<number, number>();
  for (const [key, value] of Object.entries(given)) {
    const path = `logit_bias.${key}`;
    if (!/^\d+$/.test(key) || Number(key) >= vocabularySize) {
      throw badValue(path, `'${path}' is no token; ids go from 0 to ${vocabularySize - 1}.`);
    }
    bias.set(Number(key), checkNumber(value, path, { min: -largestBias, max: largestBias }));
  }
  return bias;
}

function readStopTokens(ids: unknown, vocabularySize: number): number[] {
  if (!Array.isArray(ids)) throw badType('stop_token_ids', 'an array of token ids', ids);
  return Array.from(ids, (id, index) =>
    checkNumber(id, `stop_token_ids[${index}]`, { min: 0, max: vocabularySize - 1, integer: true }),
  );
}

function readMinTokens(body: Fields, maxTokens: number | null): number {
  const least = numberField(body, 'min_tokens', { min: 0, max: Number.MAX_SAFE_INTEGER, integer: true }) ?? 0;
  if (maxTokens !== null && least > maxTokens) {
    throw badValue(
      'min_tokens',
      `'min_tokens' is ${least}, and 'max_tokens' ends the answer at ${maxTokens}.`,
    );
  }
  return least;
}

function readIgnoreEos(body: Fields, constraint: Constraint | null): boolean {
  const ignores = booleanField(body, 'ignore_eos', false);
  if (ignores && (constraint?.calls || constraint?.content)) {
    throw badValue(
      'ignore_eos',
      "'ignore_eos' can't go on where a grammar ends the answer; remove one of them.",
    );
  }
  return ignores;
}
