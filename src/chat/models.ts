import type { Model } from 'openai/resources/models';
import { ModelNotFoundError } from '../errors.ts';
import { shown } from './fields.ts';

/** `models` of an engine: the one that is loaded. */
export class Models {
  readonly #host: { readonly context: { readonly modelId: string } };
  /** Seconds since 1970. */
  readonly #created = Math.floor(Date.now() / 1000);

  constructor(host: { readonly context: { readonly modelId: string } }) {
    this.#host = host;
  }

  async list(): Promise<{ object: 'list'; data: Model[] }> {
    return { object: 'list', data: [this.#model()] };
  }

  /** Rejects with a `ModelNotFoundError` where `id` is not the loaded model's. */
  async retrieve(id: string): Promise<Model> {
    const model = this.#model();
    if (id === model.id) return model;
    throw new ModelNotFoundError(
      `The model ${shown(id)} is not loaded; this engine runs ${shown(model.id)}.`,
      {
        param: 'model',
        code: 'model_not_found',
      },
    );
  }

  #model(): Model {
    const id = this.#host.context.modelId;
    return { id, object: 'model', created: this.#created, owned_by: 'tokenprism' };
  }
}
