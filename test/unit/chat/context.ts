import type { RequestContext } from '../../../src/chat/request.ts';

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
