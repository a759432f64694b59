import { describe, expect, it } from 'vitest';
import { prepareRequest } from '../../../src/chat/request.ts';
import { context } from './context.ts';

const prepare = (fields: object) =>
  prepareRequest({ messages: [{ role: 'user', content: 'Hi' }], ...fields }, context);

/** The fields, the path that the error names, its code, a part of its message. */
const rejected: [object, string, string, string][] = [
  [{ logprobs: 5 }, 'logprobs', 'invalid_type', 'true or false'],
  [{ logprobs: true, top_logprobs: 21 }, 'top_logprobs', 'integer_above_max_value', 'at most 20'],
  [{ logprobs: true, top_logprobs: -1 }, 'top_logprobs', 'integer_below_min_value', 'at least 0'],
  [{ top_logprobs: 2 }, 'top_logprobs', 'invalid_value', "'logprobs: true'"],
  [{ logprobs: false, top_logprobs: 2 }, 'top_logprobs', 'invalid_value', "'logprobs: true'"],
  [{ logit_bias: [1] }, 'logit_bias', 'invalid_type', 'token ids'],
  [{ logit_bias: { hello: 1 } }, 'logit_bias.hello', 'invalid_value', '0 to 2047'],
  [{ logit_bias: { '1e2': 1 } }, 'logit_bias.1e2', 'invalid_value', '0 to 2047'],
  [{ logit_bias: { 2048: 1 } }, 'logit_bias.2048', 'invalid_value', '0 to 2047'],
  [{ logit_bias: { 5: 101 } }, 'logit_bias.5', 'decimal_above_max_value', 'at most 100'],
  [{ logit_bias: { 5: -101 } }, 'logit_bias.5', 'decimal_below_min_value', '-101'],
  [{ logit_bias: { 5: null } }, 'logit_bias.5', 'invalid_type', 'null'],
  [{ stop_token_ids: 5 }, 'stop_token_ids', 'invalid_type', 'an array'],
  [{ stop_token_ids: [5, 'x'] }, 'stop_token_ids[1]', 'invalid_type', 'at most 2047'],
  [{ stop_token_ids: [null] }, 'stop_token_ids[0]', 'invalid_type', 'null'],
  [{ stop_token_ids: [2048] }, 'stop_token_ids[0]', 'integer_above_max_value', '2048'],
  [{ min_tokens: -1 }, 'min_tokens', 'integer_below_min_value', '-1'],
  [{ min_tokens: 6, max_completion_tokens: 5 }, 'min_tokens', 'invalid_value', 'ends the answer at 5'],
  [{ ignore_eos: 1 }, 'ignore_eos', 'invalid_type', 'true or false'],
  [
    { ignore_eos: true, response_format: { type: 'json_object' } },
    'ignore_eos',
    'invalid_value',
    'a grammar',
  ],
  [{ return_token_ids: 'yes' }, 'return_token_ids', 'invalid_type', 'true or false'],
];

describe('fields of single tokens', () => {
  it.each(rejected)('rejects %j', (fields, param, code, text) => {
    expect(() => prepare(fields)).toThrow(
      expect.objectContaining({ status: 400, param, code, message: expect.stringContaining(text) }),
    );
  });

  it('are passed on', () => {
    const fields = {
      logprobs: true,
      top_logprobs: 20,
      logit_bias: { 0: -100, 2047: 1.5 },
      stop_token_ids: [0, 2047],
      max_tokens: 4,
      min_tokens: 4,
      ignore_eos: true,
      return_token_ids: true,
      thinking_token_budget: 3,
    };
    expect(prepare(fields)).toMatchObject({
      returnTokenIds: true,
      job: {
        logprobs: 20,
        logitBias: new Map([
          [0, -100],
          [2047, 1.5],
        ]),
        stopTokenIds: [0, 2047],
        minTokens: 4,
        ignoreEos: true,
      },
    });
    expect(prepare({ logprobs: true }).job.logprobs).toBe(0);
  });

  it('neither ask for logprobs nor give ids where reasoning is withheld', () => {
    const fields = { include_reasoning: false, logprobs: true, return_token_ids: true };
    expect(prepare(fields)).toMatchObject({ returnTokenIds: false, job: { logprobs: null } });
  });
});
