import { BadRequestError } from '../../src/errors.ts';
import type { SamplingOptions } from '../../src/protocol.ts';

/** Sampling without any change of the model's distribution. */
export const neutralSampling: SamplingOptions = {
  temperature: 1,
  topK: 0,
  topP: 1,
  minP: 0,
  repetitionPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  seed: null,
};

interface Range {
  field: string;
  holds(value: number): boolean;
  says: string;
}

/** `field` is the name in the OpenAI request, which is what the caller knows. */
const ranges: Record<Exclude<keyof SamplingOptions, 'seed'>, Range> = {
  temperature: { field: 'temperature', holds: (value) => value >= 0, says: '0 (greedy) or more' },
  topK: {
    field: 'top_k',
    holds: (value) => Number.isInteger(value) && value >= -1,
    says: 'an integer, 0 for off',
  },
  topP: { field: 'top_p', holds: (value) => value > 0 && value <= 1, says: 'more than 0 and at most 1' },
  minP: { field: 'min_p', holds: (value) => value >= 0 && value <= 1, says: 'between 0 and 1' },
  repetitionPenalty: {
    field: 'repetition_penalty',
    holds: (value) => value > 0,
    says: 'more than 0, 1 for off',
  },
  presencePenalty: { field: 'presence_penalty', holds: () => true, says: 'a number' },
  frequencyPenalty: { field: 'frequency_penalty', holds: () => true, says: 'a number' },
};

/**
 * Puts a request's options over the model's defaults over the neutral values.
 *
 * @throws BadRequestError when a value is outside of its range
 */
export function resolveSampling(
  requested: Partial<SamplingOptions>,
  defaults: Partial<SamplingOptions>,
): SamplingOptions {
  const resolved = { ...neutralSampling, ...defined(defaults), ...defined(requested) };
  for (const [name, range] of Object.entries(ranges) as [keyof typeof ranges, Range][]) {
    const value = resolved[name];
    if (typeof value !== 'number' || !Number.isFinite(value) || !range.holds(value)) {
      throw new BadRequestError(`${range.field} must be ${range.says}; it is ${String(value)}.`, {
        param: range.field,
        code: 'invalid_value',
      });
    }
  }
  if (resolved.topK === -1) resolved.topK = 0;
  if (resolved.seed !== null && !Number.isSafeInteger(resolved.seed)) {
    throw new BadRequestError(`seed must be an integer; it is ${String(resolved.seed)}.`, {
      param: 'seed',
      code: 'invalid_value',
    });
  }
  return resolved;
}

function defined(options: Partial<SamplingOptions>): Partial<SamplingOptions> {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  ) as Partial<SamplingOptions>;
}

/** Reads the defaults of a `generation_config.json`; `do_sample: false` there means greedy. */
export function samplingDefaults(generationConfig: Record<string, unknown>): Partial<SamplingOptions> {
  const defaults: Partial<SamplingOptions> = {};
  const take = (name: Exclude<keyof SamplingOptions, 'seed'>, key: string) => {
    const value = generationConfig[key];
    if (typeof value === 'number' && Number.isFinite(value) && ranges[name].holds(value))
      defaults[name] = value;
  };
  take('temperature', 'temperature');
  take('topK', 'top_k');
  take('topP', 'top_p');
  take('minP', 'min_p');
  take('repetitionPenalty', 'repetition_penalty');
  if (generationConfig.do_sample === false) defaults.temperature = 0;
  return defaults;
}
