import { isObject } from '../chat/fields.ts';
import type { TokenLogprobs } from '../protocol.ts';
import { malformed } from './answer.ts';

/** How a server writes tokens that it was asked to give as ids. */
const written = /^token_id:(\d+)$/;

/**
 * The log probabilities of one event's tokens, as `/completions` tells them: in `tokens`, `token_logprobs` and
 * `top_logprobs`, one each.
 *
 * @param most of the most probable tokens; servers add the one that was chosen
 */
export function tokenLogprobs(told: unknown, ids: readonly number[], most: number): TokenLogprobs[] {
  if (!isObject(told)) {
    if (ids.length === 0) return [];
    throw malformed('tokens without the log probabilities that were asked for');
  }
  const { token_logprobs: own, top_logprobs: tops } = told;
  if (!Array.isArray(own) || own.length !== ids.length) {
    throw malformed(`log probabilities that are not of its ${ids.length} tokens`);
  }
  return own.map((logprob: unknown, index) => {
    if (typeof logprob !== 'number') throw malformed('a log probability that is no number');
    const top: unknown = Array.isArray(tops) ? tops[index] : null;
    return { logprob, top: isObject(top) ? ranked(top).slice(0, most) : [] };
  });
}

function ranked(top: Record<string, unknown>): TokenLogprobs['top'] {
  const entries = Object.entries(top).map(([token, logprob]) => {
    const id = written.exec(token)?.[1];
    if (id === undefined || typeof logprob !== 'number') {
      throw malformed('most probable tokens that are not written as ids');
    }
    return { id: Number(id), logprob };
  });
  return entries.sort((a, b) => b.logprob - a.logprob);
}
