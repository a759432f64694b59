/** web-llm's errors as those of this package. Only their names tell them apart: their classes are not exported. */
import {
  BadRequestError,
  InvalidLogitsError,
  ModelLoadError,
  TokenprismError,
  WebGPUUnavailableError,
} from '../../../src/errors.ts';

const withoutDevice = new Set([
  'WebGPUNotAvailableError',
  'WebGPUNotFoundError',
  'ShaderF16SupportError',
  'FeatureSupportError',
]);

/** Errors cross its own worker as strings, and some are thrown as such. */
const parts = (thrown: unknown) =>
  thrown instanceof Error
    ? { name: thrown.name, message: thrown.message }
    : { name: '', message: String(thrown) };

/** What a load failed with. */
export function loadError(thrown: unknown, model: string): TokenprismError {
  if (thrown instanceof TokenprismError) return thrown;
  const { name, message } = parts(thrown);
  if (withoutDevice.has(name)) {
    return new WebGPUUnavailableError(`web-llm can't run ${model} here: ${message}`, { cause: thrown });
  }
  const advice = isDamaged(thrown)
    ? ' What was stored of it was deleted: load it again.'
    : name === 'LinkError'
      ? ' Its library was compiled for another version of web-llm: use the one of the installed version.'
      : '';
  const what = name && name !== 'Error' ? `${name}: ${message}` : message;
  return new ModelLoadError(
    `web-llm could not load ${model}: ${what}${/[.!?]$/.test(what) ? '' : '.'}${advice}`,
    {
      code: 'web_llm_load_failed',
      cause: thrown,
    },
  );
}

/** Stored files that are not the model's, such as a log-in page that came with status 200: they would stay. */
export const isDamaged = (thrown: unknown) =>
  /tensor-cache record range|exceeds shard size/i.test(parts(thrown).message);

/** What a pass failed with. */
export function passError(thrown: unknown): unknown {
  const { name, message } = parts(thrown);
  if (name === 'ContextWindowSizeExceededError') {
    return new BadRequestError(message, { code: 'context_length_exceeded', cause: thrown });
  }
  if (message.includes('failed to sample a valid token')) {
    return new InvalidLogitsError(
      'web-llm could draw no token: the device or the compiled model computes wrong numbers. Try the model with another quantization, such as q4f32_1 in place of q4f16_1.',
      { cause: thrown },
    );
  }
  return thrown instanceof Error
    ? thrown
    : new TokenprismError(`web-llm failed: ${message}`, { cause: thrown });
}
