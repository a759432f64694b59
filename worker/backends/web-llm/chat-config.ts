import { ModelLoadError } from '../../../src/errors.ts';

/** What is read of a model's `mlc-chat-config.json`, under the names that the Hub's configurations have for it. */
export interface ChatConfig {
  /** Hub `model_type`, the tokens of the vocabulary (rows of logits may be padded beyond the tokenizer's) and of the context. */
  config: {
    model_type: unknown;
    vocab_size: number;
    max_position_embeddings: number;
  };
  /** Sampling defaults and the tokens that end a turn, as in a `generation_config.json`. */
  generation: Record<string, unknown>;
  /** Of the weights, for example `q4f16_1`. */
  quantization: string;
}

/**
 * @param overrides what the model's record and the engine's options put over the file
 * @throws ModelLoadError when a size is missing
 */
export function readChatConfig(
  file: Record<string, unknown>,
  overrides: Record<string, unknown>,
): ChatConfig {
  const given: Record<string, unknown> = { ...file, ...overrides };
  const contextLength = [given.context_window_size, given.sliding_window_size].find(isSize);
  if (!isSize(given.vocab_size) || contextLength === undefined) {
    const name = isSize(given.vocab_size) ? 'context_window_size' : 'vocab_size';
    throw new ModelLoadError(
      `mlc-chat-config.json has no ${name}: it is no configuration of a compiled chat model.`,
      {
        code: 'config_invalid',
      },
    );
  }
  const template = given.conv_template as { stop_token_ids?: unknown } | undefined;
  return {
    config: {
      model_type: given.model_type,
      vocab_size: given.vocab_size,
      max_position_embeddings: contextLength,
    },
    generation: {
      ...given,
      eos_token_id: [...ids(template?.stop_token_ids), ...ids(given.eos_token_id)],
    },
    quantization: typeof given.quantization === 'string' ? given.quantization : 'unknown',
  };
}

const isSize = (value: unknown): value is number => Number.isInteger(value) && (value as number) > 0;

const ids = (given: unknown): number[] =>
  (Array.isArray(given) ? given : [given]).filter((id): id is number => Number.isInteger(id));
