import type { ToolStrictness } from '../chat/constraint.ts';
import type { FormatOptions } from '../chat/format.ts';
import type { ReasoningField } from '../chat/reasoning-field.ts';
import type { IncompleteToolCalls } from '../chat/types.ts';
import { BadRequestError } from '../errors.ts';
import type {
  BackendChoice,
  CacheChoice,
  DeviceChoice,
  Dtype,
  LoadProgress,
  ModelSource,
} from '../protocol.ts';
import type { LoadJob, WorkerPort } from './connection.ts';
import { embeddedModel } from './embedded-model.ts';
import { runtimeFile } from './runtime-file.ts';
import type { WebLlmOptions } from './web-llm-options.ts';

/** Progress of a load: one file or step, and all files known so far. */
export interface EngineProgress extends LoadProgress {
  /**
   * All files seen so far, in bytes; grows in `total` when another file begins. `received` of them came over the network
   * in this load, in the last seconds so many a second; `null` before that can be told, and where nothing has come.
   */
  overall: { loaded: number; total: number; received: number; bytesPerSecond: number | null };
}

/** A model whose files the application has, as `<input type="file" webkitdirectory>` gives them. */
export interface LocalModel {
  /** The name that requests and answers carry as `model`. */
  id: string;
  /** By their names relative to the model's folder: `config.json`, `tokenizer.json`, `onnx/model_q4.onnx`, … */
  files: Readonly<Record<string, Blob>>;
}

export interface EngineOptions extends FormatOptions {
  /**
   * A Hub repository (`onnx-community/Qwen3-0.6B-ONNX`), or the URL of a folder with `config.json`,
   * `tokenizer.json` and `onnx/…` (begins with `https://`, `http://`, `/`, `./` or `../`). Unset: the
   * embedded demonstration model. An object: the files themselves, for example of a folder that the user has opened.
   */
  model?: string | LocalModel;
  /** Branch, tag or commit of a Hub repository. Default `main`. */
  revision?: string;
  /** Default `auto`: WebGPU on a real GPU, WASM where there is none or only a software adapter. */
  device?: DeviceChoice;
  /** Default `auto`: the smallest weights that the device runs well. */
  dtype?: Dtype;
  onProgress?: (progress: EngineProgress) => void;
  /** Aborts the load: `createEngine` rejects with a `RequestAbortedError`. */
  signal?: AbortSignal | null;
  /** Default `separate`. */
  incompleteToolCalls?: IncompleteToolCalls;
  /** Where answers have their reasoning, and messages theirs, unless a request says; default `reasoning`. */
  reasoningField?: ReasoningField;
  /** How firmly calls are held to a grammar, at least; default `auto`: by each request and its tools. */
  toolStrictness?: ToolStrictness;
  /** `false`: only `tool_choice` "required" and named hold the model to calls. Default `true`. */
  strictToolCalling?: boolean;
  /**
   * Whether several tokens may be asked for at once: text that came earlier behind the same tokens, in the prompt or in
   * answers, is read ahead and taken where the model chooses the same. Answers are the same without; it is for speed,
   * and rests where it does not pay. Default `true`.
   */
  drafts?: boolean;
  /**
   * Whether a model's files are kept on this origin for the next visit. `auto`: where that is possible; `required`: a
   * load that can't keep them fails with a `StorageQuotaError`; `none`: they are not. Default `auto`.
   */
  cache?: CacheChoice;
  /**
   * Whether the browser is asked not to evict what is kept (`navigator.storage.persist()`, for which Firefox asks the
   * user); `false` leaves it to the application. Default `true`.
   */
  persist?: boolean;
  /** Makes the worker where the bundler's own way does not fit. Called again after a crash. */
  worker?: () => Worker;
  /** URL of ONNX Runtime's WebAssembly file (asyncify build); unset: the one that comes with the package. */
  wasmUrl?: string;
  /**
   * What computes the logits. Unset: ONNX Runtime. `web-llm`: MLC's runtime for MLC's models, where `model` may also be an
   * id of its list; see `webLlm`. An object replaces the model by a given one's replay; see `tokenprism/testing`.
   */
  backend?: 'web-llm' | BackendChoice;
  /** For `backend: 'web-llm'`. */
  webLlm?: WebLlmOptions;
}

/** Options that were checked, in the form that the engine works with. */
export interface CheckedOptions {
  job: LoadJob;
  format: FormatOptions;
  incompleteToolCalls: IncompleteToolCalls;
  reasoningField: ReasoningField;
  toolStrictness: ToolStrictness;
  strictToolCalling: boolean;
  persist: boolean;
  createWorker: () => WorkerPort;
  onProgress: ((progress: EngineProgress) => void) | null;
  signal: AbortSignal | null;
}

const devices: readonly DeviceChoice[] = ['auto', 'webgpu', 'wasm'];
const caches: readonly CacheChoice[] = ['auto', 'required', 'none'];
const dtypes: readonly Dtype[] = ['auto', 'fp32', 'fp16', 'q8', 'q4', 'q4f16', 'int8', 'uint8', 'bnb4'];
const incompleteModes: readonly IncompleteToolCalls[] = ['separate', 'raw', 'close'];
/** Not imported: a page need not have what uses them before it has a model. */
const reasoningFields: readonly ReasoningField[] = ['reasoning', 'reasoning_content', 'both', 'content'];
const strictnesses: readonly ToolStrictness[] = ['auto', 'function', 'parameter'];
const known = [
  'model',
  'revision',
  'device',
  'dtype',
  'onProgress',
  'signal',
  'reasoningParser',
  'toolParser',
  'toolCalling',
  'incompleteToolCalls',
  'reasoningField',
  'toolStrictness',
  'strictToolCalling',
  'drafts',
  'cache',
  'persist',
  'worker',
  'wasmUrl',
  'backend',
  'webLlm',
];

/** Throws a `BadRequestError` that names the option and what it may be. */
export function checkOptions(options: EngineOptions): CheckedOptions {
  for (const name of Object.keys(options)) {
    if (!known.includes(name))
      throw bad(name, `createEngine has no option '${name}'; it has ${known.join(', ')}.`);
  }
  checkType(options, 'onProgress', 'function');
  checkType(options, 'worker', 'function');
  checkType(options, 'wasmUrl', 'string');
  checkType(options, 'toolCalling', 'boolean');
  checkType(options, 'strictToolCalling', 'boolean');
  checkType(options, 'drafts', 'boolean');
  checkType(options, 'persist', 'boolean');
  checkFormatName(options, 'reasoningParser');
  checkFormatName(options, 'toolParser');
  const { backend } = options;
  if (options.webLlm !== undefined) throw bad('webLlm', "'webLlm' is for backend: 'web-llm'.");
  if (typeof backend === 'string') {
    const advice = backend === 'web-llm' ? "; here give 'engine' as a function that calls createEngine" : '';
    throw bad(
      'backend',
      `'backend' is 'web-llm' in createEngine, or unset${advice}; got ${JSON.stringify(backend)}.`,
    );
  }
  const device = oneOf('device', options.device ?? 'auto', devices);
  const dtype = oneOf('dtype', options.dtype ?? 'auto', dtypes);
  return {
    job: {
      model: modelSource(options.model, options.revision),
      backend: backend ?? { kind: 'onnx', device, dtype },
      wasmUrl: options.wasmUrl === undefined ? runtimeFile : absoluteUrl('wasmUrl', options.wasmUrl).href,
      ...(options.drafts !== undefined && { drafts: options.drafts }),
      ...(options.cache !== undefined && { cache: oneOf('cache', options.cache, caches) }),
    },
    format: {
      reasoningParser: options.reasoningParser,
      toolParser: options.toolParser,
      toolCalling: options.toolCalling ?? true,
    },
    incompleteToolCalls: oneOf(
      'incompleteToolCalls',
      options.incompleteToolCalls ?? 'separate',
      incompleteModes,
    ),
    reasoningField: oneOf('reasoningField', options.reasoningField ?? 'reasoning', reasoningFields),
    toolStrictness: oneOf('toolStrictness', options.toolStrictness ?? 'auto', strictnesses),
    strictToolCalling: options.strictToolCalling ?? true,
    persist: options.persist ?? true,
    createWorker: options.worker ?? createBundledWorker,
    onProgress: options.onProgress ?? null,
    signal: options.signal ?? null,
  };
}

/** Where the files of `model` are. */
export function modelSource(
  model: string | LocalModel | undefined,
  revision: string | undefined,
): ModelSource {
  if (revision !== undefined && (typeof revision !== 'string' || revision === '')) {
    throw bad('revision', "'revision' must be a branch, a tag or a commit of the Hub repository.");
  }
  if (model === undefined) {
    if (revision !== undefined) throw bad('revision', "'revision' needs a 'model' of the Hub.");
    return embeddedModel();
  }
  if (typeof model !== 'string') {
    if (revision !== undefined) throw bad('revision', "'revision' needs a 'model' of the Hub.");
    return localSource(model);
  }
  if (/^(https?:\/\/|\/|\.\.?\/)/.test(model)) {
    if (revision !== undefined) {
      throw bad('revision', "'revision' is for models of the Hub; a folder has none, so leave it out.");
    }
    return { kind: 'folder', url: folderUrl('model', model) };
  }
  if (/^[\w.-]+\/[\w.-]+$/.test(model))
    return { kind: 'hub', repository: model, revision: revision ?? 'main' };
  throw bad(
    'model',
    `'model' must be a Hub repository such as "onnx-community/Qwen3-0.6B-ONNX" or the URL of a folder ` +
      `such as "/models/mine/"; got ${JSON.stringify(model)}.`,
  );
}

function localSource(model: LocalModel): ModelSource {
  const { id, files } = (model ?? {}) as Partial<LocalModel>;
  if (typeof id !== 'string' || id === '' || typeof files !== 'object' || files === null) {
    throw bad('model', "'model' must be a string, or an object with an 'id' and its 'files' by their names.");
  }
  const wrong = Object.entries(files).find(([, file]) => !(file instanceof Blob));
  if (wrong) throw bad('model.files', `'model.files' must hold Blobs; ${JSON.stringify(wrong[0])} is none.`);
  for (const name of ['config.json', 'tokenizer.json']) {
    if (!Object.hasOwn(files, name)) {
      throw bad(
        'model.files',
        `'model.files' has no ${name}: its names are relative to the model's folder, and begin with no "/" or "./".`,
      );
    }
  }
  return { kind: 'files', id, files: { ...files } };
}

export function absoluteUrl(option: string, given: string): URL {
  const base = globalThis.document?.baseURI ?? globalThis.location?.href;
  try {
    return new URL(given, base);
  } catch (cause) {
    throw new BadRequestError(
      `'${option}' is not a URL that can be resolved here: ${JSON.stringify(given)}.`,
      { param: option, code: 'invalid_value', cause },
    );
  }
}

/** An absolute URL that ends with a slash. */
function folderUrl(option: string, given: string): string {
  const url = absoluteUrl(option, given);
  if (url.search || url.hash) {
    throw bad(
      option,
      `'${option}' must be the URL of a folder, without '?' and '#'; got ${JSON.stringify(given)}.`,
    );
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url.href;
}

function createBundledWorker(): Worker {
  return new Worker(new URL('../../worker/main.ts', import.meta.url), { type: 'module' });
}

function oneOf<Value extends string>(option: string, value: Value, allowed: readonly Value[]): Value {
  if (allowed.includes(value)) return value;
  throw bad(option, `'${option}' must be one of ${allowed.join(', ')}; got ${JSON.stringify(value)}.`);
}

function checkType(options: EngineOptions, option: keyof EngineOptions, type: string): void {
  const value = options[option];
  if (value === undefined || typeof value === type) return;
  throw bad(option, `'${option}' must be a ${type}; got ${value === null ? 'null' : typeof value}.`);
}

function checkFormatName(options: EngineOptions, option: 'reasoningParser' | 'toolParser'): void {
  const value = options[option];
  if (value === undefined || value === null || (typeof value === 'string' && value !== '')) return;
  throw bad(option, `'${option}' must be the name of a format, or null for none.`);
}

function bad(param: string, message: string): BadRequestError {
  return new BadRequestError(message, { param, code: 'invalid_value' });
}
