import { BadRequestError } from '../errors.ts';
import type { WebLlmRoute } from '../protocol.ts';
import {
  absoluteUrl,
  type CheckedOptions,
  checkOptions,
  type EngineOptions,
  modelSource,
} from './options.ts';

/** What `backend: 'web-llm'` is told beside the engine's other options. */
export interface WebLlmOptions {
  /**
   * URL of the ES module of `@mlc-ai/web-llm`, which the application installs; with Vite
   * `import module from '@mlc-ai/web-llm?url'`. Unset: what the page's import map says of `@mlc-ai/web-llm`.
   */
  module?: string;
  /** URL of the compiled model (`….wasm`), for models that are not in web-llm's list. */
  modelLib?: string;
  /** Tokens of prompt and answer together, for which memory is taken at once. Unset: as web-llm's list or the model says. */
  contextLength?: number;
  /**
   * Default `auto`: logits stay on the GPU where the installed version has the private names that this takes, else they
   * are in memory with each token. `pipeline` fails without them; `public` is the slow way.
   */
  route?: WebLlmRoute;
}

const known = ['module', 'modelLib', 'contextLength', 'route'] as const satisfies (keyof WebLlmOptions)[];
const routes: readonly WebLlmRoute[] = ['auto', 'pipeline', 'public'];

/** The options of an engine on web-llm. Throws a `BadRequestError` that names the option and what it may be. */
export function checkWebLlmOptions(options: EngineOptions): CheckedOptions {
  const { backend: _, webLlm = {}, model, revision, ...others } = options;
  if (typeof webLlm !== 'object' || webLlm === null) {
    throw bad('webLlm', "'webLlm' must be an object.");
  }
  for (const name of Object.keys(webLlm)) {
    if (!(known as readonly string[]).includes(name)) {
      throw bad(`webLlm.${name}`, `'webLlm' has no option '${name}'; it has ${known.join(', ')}.`);
    }
  }
  if (others.device === 'wasm') {
    throw bad('device', "'device' can't be wasm with backend: 'web-llm', which runs on WebGPU only.");
  }
  if (others.dtype !== undefined && others.dtype !== 'auto') {
    throw bad(
      'dtype',
      "'dtype' is not for backend: 'web-llm': its models are compiled for one form of weights; choose it with the model, for example q4f32_1.",
    );
  }
  if (others.drafts === true) {
    throw bad(
      'drafts',
      "'drafts' can't be had with backend: 'web-llm', which tells the logits of one token a pass.",
    );
  }
  if (others.wasmUrl !== undefined) {
    throw bad('wasmUrl', "'wasmUrl' is of ONNX Runtime; backend: 'web-llm' has 'webLlm.modelLib'.");
  }
  const { listed, source } = mlcModel(model, revision);
  const checked = checkOptions(others);
  const { modelLib, contextLength = null, route = 'auto' } = webLlm;
  if (contextLength !== null && (!Number.isSafeInteger(contextLength) || contextLength < 1)) {
    throw bad('webLlm.contextLength', "'webLlm.contextLength' must be a number of tokens, 1 or more.");
  }
  if (!routes.includes(route)) {
    throw bad(
      'webLlm.route',
      `'webLlm.route' must be one of ${routes.join(', ')}; got ${JSON.stringify(route)}.`,
    );
  }
  return {
    ...checked,
    job: {
      ...checked.job,
      model: source,
      backend: {
        kind: 'web-llm',
        module: moduleUrl(webLlm.module),
        listed,
        modelLib: modelLib === undefined ? null : urlOf('webLlm.modelLib', modelLib),
        contextLength,
        route,
      },
      wasmUrl: null,
    },
  };
}

/** An id of web-llm's list, or where the files are. */
function mlcModel(model: EngineOptions['model'], revision: string | undefined) {
  if (model === undefined) {
    throw new BadRequestError(
      "backend: 'web-llm' needs a 'model': an id of web-llm's list such as \"Qwen3-0.6B-q4f16_1-MLC\", a Hub repository, or the URL of a folder.",
      { param: 'model', code: 'missing_required_parameter' },
    );
  }
  if (typeof model === 'object') {
    throw bad(
      'model',
      "'model' can't be files with backend: 'web-llm', which fetches them itself: give a URL.",
    );
  }
  if (/^[\w.-]+$/.test(model) && !/^\.{1,2}$/.test(model)) {
    if (revision !== undefined) {
      throw bad(
        'revision',
        "'revision' is for models of the Hub; web-llm's list says itself which one it means.",
      );
    }
    // Its files are where the list says.
    return { listed: model, source: { kind: 'files' as const, id: model, files: {} } };
  }
  return { listed: null, source: modelSource(model, revision) };
}

function moduleUrl(given: string | undefined): string {
  if (given !== undefined) return urlOf('webLlm.module', given);
  try {
    // Only where an import map names it: nothing else finds a package in a browser.
    return import.meta.resolve('@mlc-ai/web-llm');
  } catch {
    throw new BadRequestError(
      "backend: 'web-llm' needs the package @mlc-ai/web-llm: `npm install @mlc-ai/web-llm`, and give the URL of its module as webLlm.module (with Vite: import module from '@mlc-ai/web-llm?url').",
      { param: 'webLlm.module', code: 'web_llm_missing' },
    );
  }
}

function urlOf(option: string, given: unknown): string {
  if (typeof given !== 'string' || given === '') throw bad(option, `'${option}' must be a URL.`);
  return absoluteUrl(option, given).href;
}

function bad(param: string, message: string): BadRequestError {
  return new BadRequestError(message, { param, code: 'invalid_value' });
}
