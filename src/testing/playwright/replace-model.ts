import type { BackendChoice, ModelSource, ScriptedTurn } from '../../protocol.ts';

/** What a page gets in place of the models that it loads. */
export interface Replacement {
  /** The embedded model's files by their name, at URLs that any page may read. */
  files: Record<string, string>;
  /** `null`: the embedded model itself answers. */
  turns: ScriptedTurn[] | null;
}

interface Replaced {
  tokenprismReplacement?: Replacement;
}

/**
 * Runs in the page before its own scripts, and must refer to nothing outside of itself. What an engine tells its worker
 * to load is exchanged on the way, so that the application under test is as it is: its model's name stays, its files
 * and what computes are others. The last replacement counts.
 */
export function replaceModel(replacement: Replacement): void {
  const page = globalThis as Replaced;
  const isFirst = page.tokenprismReplacement === undefined;
  page.tokenprismReplacement = replacement;
  if (!isFirst || typeof Worker === 'undefined') return;
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (this: Worker, ...given: unknown[]) {
    const [message, ...others] = given as [Partial<LoadMessage> | undefined];
    const isLoad = message?.type === 'load' && message.model?.kind && message.backend?.kind;
    Reflect.apply(postMessage, this, isLoad ? [replaced(message as LoadMessage), ...others] : given);
  } as typeof postMessage;

  interface LoadMessage {
    type: 'load';
    model: ModelSource;
    backend: BackendChoice;
  }

  function replaced(message: LoadMessage): LoadMessage {
    const { files, turns } = page.tokenprismReplacement!;
    return {
      ...message,
      model: { kind: 'files', id: idOf(message.model), files },
      backend: turns ? { kind: 'scripted', turns } : onOnnx(message.backend),
    };
  }

  /** The embedded model has one form of weights, and none for web-llm. */
  function onOnnx(backend: BackendChoice): BackendChoice {
    if (backend.kind === 'web-llm') return { kind: 'onnx', device: 'auto', dtype: 'auto' };
    return backend.kind === 'onnx' ? { ...backend, dtype: 'auto' } : backend;
  }

  function idOf(model: ModelSource): string {
    if (model.kind === 'files') return model.id;
    if (model.kind === 'hub') return model.repository;
    const names = new URL(model.url).pathname.split('/').filter((name) => name !== '');
    return decodeURIComponent(names.at(-1) ?? model.url);
  }
}
