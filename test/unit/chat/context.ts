import { prepareRequest, type RequestContext } from '../../../src/chat/request.ts';
import { BadRequestError, ModelNotFoundError } from '../../../src/errors.ts';

/** What requests are checked against: a model of 2048 tokens in Qwen3's format. */
export const context: RequestContext = {
  modelId: 'tiny',
  vocabularySize: 2048,
  toolCalling: true,
  toolsUnavailable: null,
  format: { reasoning: 'qwen3', tools: 'hermes' },
  toolStrictness: 'auto',
  strictToolCalling: true,
};

/** Why a request is refused. */
export function failure(body: unknown, overrides: Partial<RequestContext> = {}): BadRequestError {
  try {
    prepareRequest(body, { ...context, ...overrides });
  } catch (error) {
    if (error instanceof BadRequestError || error instanceof ModelNotFoundError)
      return error as BadRequestError;
    throw error;
  }
  throw new Error(`accepted: ${JSON.stringify(body)}`);
}
