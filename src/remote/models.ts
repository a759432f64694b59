import type { Model } from 'openai/resources/models';
import { isObject, shown } from '../chat/fields.ts';
import { BadRequestError, ModelNotFoundError, RemoteServerError } from '../errors.ts';
import type { RemoteServer } from './server.ts';

/** A model as a server lists it. */
export interface RemoteModel extends Model {
  /** Tokens of prompt and answer together, where the server says (vLLM does). */
  max_model_len?: number | null;
}

/** `models` of a remote engine: those that the server lists. */
export class RemoteModels {
  readonly #server: RemoteServer;
  readonly #closing: AbortSignal;

  constructor(server: RemoteServer, closing: AbortSignal) {
    this.#server = server;
    this.#closing = closing;
  }

  /** Rejects with what keeps the server from answering. */
  async list(): Promise<{ object: 'list'; data: RemoteModel[] }> {
    return { object: 'list', data: await this.models(this.#closing) };
  }

  /** Rejects with a `ModelNotFoundError` where the server lists no such model. */
  async retrieve(id: string): Promise<RemoteModel> {
    const models = await this.models(this.#closing);
    const model = models.find((other) => other.id === id);
    if (model) return model;
    throw new ModelNotFoundError(`The server has no model ${shown(id)}; it has ${namesOf(models)}.`, {
      param: 'model',
      code: 'model_not_found',
    });
  }

  /** The server's only model. Rejects with a `BadRequestError` where it has several. */
  async only(signal: AbortSignal): Promise<RemoteModel> {
    const models = await this.models(signal);
    if (models.length === 1) return models[0]!;
    throw new BadRequestError(
      `The server has ${namesOf(models)}: name one with createRemoteEngine({ model }), or in the request.`,
      { param: 'model', code: 'missing_required_parameter' },
    );
  }

  async models(signal: AbortSignal): Promise<RemoteModel[]> {
    const { data } = await this.#server.json('/models', signal);
    if (Array.isArray(data) && data.every((model) => isObject(model) && typeof model.id === 'string')) {
      return data as RemoteModel[];
    }
    throw new RemoteServerError('The server answered /models with something that is no list of models.', {
      code: 'invalid_answer',
    });
  }
}

const namesOf = (models: readonly RemoteModel[]) =>
  models.length === 0 ? 'no model' : models.map(({ id }) => shown(id)).join(', ');
