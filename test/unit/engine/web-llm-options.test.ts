import { describe, expect, it } from 'vitest';
import { checkOptions, type EngineOptions } from '../../../src/engine/options.ts';
import { checkWebLlmOptions } from '../../../src/engine/web-llm-options.ts';

const module = 'https://app.test/web-llm.js';
const check = (options: EngineOptions) =>
  checkWebLlmOptions({ backend: 'web-llm', model: 'Qwen3-0.6B-q4f16_1-MLC', webLlm: { module }, ...options });

describe('the options of an engine on web-llm', () => {
  it('name a model of the list, or where it is', () => {
    expect(check({}).job.backend).toEqual({
      kind: 'web-llm',
      module,
      listed: 'Qwen3-0.6B-q4f16_1-MLC',
      modelLib: null,
      contextLength: null,
      route: 'auto',
    });
    const modelLib = 'https://app.test/lib.wasm';
    const { job } = check({
      model: 'https://app.test/mine',
      webLlm: { module, modelLib, contextLength: 2048 },
    });
    expect(job.model).toEqual({ kind: 'folder', url: 'https://app.test/mine/' });
    expect(job.backend).toMatchObject({ listed: null, modelLib, contextLength: 2048 });
    expect(check({ model: 'mlc-ai/X-MLC' }).job.model).toMatchObject({
      kind: 'hub',
      repository: 'mlc-ai/X-MLC',
    });
  });

  it.each<[string, EngineOptions]>([
    ['model', { model: undefined }],
    ['device', { device: 'wasm' }],
    ['dtype', { dtype: 'q4' }],
    ['drafts', { drafts: true }],
    ['wasmUrl', { wasmUrl: '/a.wasm' }],
    ['revision', { revision: 'main' }],
    ['webLlm.contextLength', { webLlm: { module, contextLength: 0 } }],
    ['webLlm.route', { webLlm: { module, route: 'fast' as 'auto' } }],
    ['webLlm.cache', { webLlm: { module, cache: 'opfs' } as object }],
    ['webLlm.modelLib', { webLlm: { module, modelLib: '' } }],
  ])('refuse %s', (param, options) => {
    expect(() => check(options)).toThrow(expect.objectContaining({ name: 'BadRequestError', param }));
  });

  it('are refused without the backend, as is a backend that does not exist', () => {
    expect(() => checkOptions({ webLlm: { module } })).toThrow(/'webLlm' is for backend: 'web-llm'/);
    expect(() => checkOptions({ backend: 'onnx' as 'web-llm' })).toThrow(
      /'backend' is 'web-llm' in createEngine/,
    );
  });

  it('say what to install where nobody says where the package is', () => {
    expect(() => check({ webLlm: { module: '' } })).toThrow(/'webLlm\.module' must be a URL/);
  });
});
