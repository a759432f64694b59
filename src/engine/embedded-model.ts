/** The id of the embedded model in requests and answers. */
export const embeddedModelId = 'tokenprism-tiny';

/** The demonstration model that comes with the package. Each file is named whole so that bundlers emit it. */
export function embeddedModel() {
  return {
    kind: 'files' as const,
    id: embeddedModelId,
    files: {
      'config.json': new URL('../../models/tiny/config.json', import.meta.url).href,
      'generation_config.json': new URL('../../models/tiny/generation_config.json', import.meta.url).href,
      'tokenizer.json': new URL('../../models/tiny/tokenizer.json', import.meta.url).href,
      'tokenizer_config.json': new URL('../../models/tiny/tokenizer_config.json', import.meta.url).href,
      'onnx/model_q4.onnx': new URL('../../models/tiny/onnx/model_q4.onnx', import.meta.url).href,
    },
  };
}
