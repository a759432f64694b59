import { ModelLoadError } from '../../../src/errors.ts';
import { knownVersions, type LogitProcessor, type Pipeline, type WebLlmEngine } from './library.ts';

/** Each private name that is used, and what it has to be. */
const expected: Record<string, (pipeline: Pipeline, processor: LogitProcessor) => boolean> = {
  tvm: ({ tvm }) => isObject(tvm),
  'tvm.beginScope': ({ tvm }) => isFunction(tvm.beginScope),
  'tvm.endScope': ({ tvm }) => isFunction(tvm.endScope),
  device: ({ device }) => isObject(device),
  'device.sync': ({ device }) => isFunction(device.sync),
  filledKVCacheLength: ({ filledKVCacheLength }) => filledKVCacheLength === 0,
  appearedTokensFreq: ({ appearedTokensFreq }) => appearedTokensFreq instanceof Map,
  fullVocabSize: ({ fullVocabSize }) => isCount(fullVocabSize),
  bitmaskSize: ({ bitmaskSize, fullVocabSize }) => bitmaskSize === Math.ceil(fullVocabSize / 32),
  prefillChunkSize: ({ prefillChunkSize }) => isCount(prefillChunkSize),
  logitProcessor: ({ logitProcessor }, processor) => logitProcessor === processor,
  grammarMatcher: (pipeline) => Object.hasOwn(pipeline, 'grammarMatcher'),
  forwardKnownTokens: (pipeline) => isFunction(pipeline.forwardKnownTokens),
  forwardDecodeToken: (pipeline) => isFunction(pipeline.forwardDecodeToken),
  sampleFromRawLogits: (pipeline) => isFunction(pipeline.sampleFromRawLogits),
  updateLogitsOnCPU: (pipeline) => isFunction(pipeline.updateLogitsOnCPU),
  setSeed: (pipeline) => isFunction(pipeline.setSeed),
  resetChat: (pipeline) => isFunction(pipeline.resetChat),
};

const isObject = (value: unknown) => typeof value === 'object' && value !== null;
const isFunction = (value: unknown) => typeof value === 'function';
const isCount = (value: unknown) => Number.isInteger(value) && (value as number) > 0;

/** What was found of a loaded engine's private part. */
export type FoundPipeline =
  | { pipeline: Pipeline; missing: null }
  /** Names that are not there or not what they were. */
  | { pipeline: null; missing: string[] };

/** @param processor the one that the engine was made with for this model */
export function findPipeline(
  engine: WebLlmEngine,
  modelId: string,
  processor: LogitProcessor,
): FoundPipeline {
  const pipelines: unknown = (engine as unknown as Record<string, unknown>).loadedModelIdToPipeline;
  const pipeline = pipelines instanceof Map ? (pipelines.get(modelId) as Pipeline | undefined) : undefined;
  if (!pipeline) return { pipeline: null, missing: ['loadedModelIdToPipeline'] };
  const missing = Object.entries(expected)
    .filter(([, holds]) => {
      try {
        return !holds(pipeline, processor);
      } catch {
        // What it is a part of is missing, too.
        return true;
      }
    })
    .map(([name]) => name);
  return missing.length === 0 ? { pipeline, missing: null } : { pipeline: null, missing };
}

/** For people, and for whoever adapts this to another version. */
export const missingNames = (missing: readonly string[]) =>
  `this version of @mlc-ai/web-llm lacks, or has changed, ${missing.join(', ')}; known to work: ${knownVersions.join(', ')}`;

/** What a load ends with that may not do without these names. */
export const pipelineUnsupported = (missing: readonly string[]) =>
  new ModelLoadError(
    `webLlm.route 'pipeline' can't be had: ${missingNames(missing)}. Install a version that is known to work, or leave webLlm.route unset.`,
    { code: 'web_llm_unsupported' },
  );
