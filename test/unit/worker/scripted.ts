import type { FromWorker, GenerateJob, ScriptedTurn, ToWorker } from '../../../src/protocol.ts';
import {
  ScriptedBackend,
  type ScriptedModel,
  ScriptedTurns,
} from '../../../worker/backends/scripted/backend.ts';
import { Constraints } from '../../../worker/grammar/constraints.ts';
import type { Model } from '../../../worker/model.ts';
import { WrittenOutputs } from '../../../worker/prompt/outputs.ts';
import { buildTokenTable } from '../../../worker/prompt/table.ts';
import { ChatTemplate } from '../../../worker/prompt/template.ts';
import { type LoadModel, Service } from '../../../worker/service.ts';
import { promptOf, tinyFiles } from './models.ts';

export const eosTokenId = 2041;
export const contextLength = 256;

const files = tinyFiles();
export const { tokenizer, template } = promptOf(files);

/**
 * A model whose answers are written down, with the embedded model's tokenizer and template.
 *
 * @param answered of the turns, those that earlier workers have given; unset in the first one
 */
export function scriptedModel(turns: ScriptedTurn[], answered?: number): Model {
  const scripted: ScriptedModel = {
    encode: (text) => tokenizer.encode(text),
    eosTokenId,
    vocabularySize: 2048,
    contextLength,
  };
  const scripts = new ScriptedTurns(turns, scripted, answered);
  const table = buildTokenTable(tokenizer, files.tokenizerJson);
  const written = new WrittenOutputs(table);
  const eosTokenIds = [eosTokenId, 2039];
  return {
    report: {
      id: 'scripted',
      modelType: 'qwen3',
      vocabularySize: 2048,
      contextLength,
      eosTokenIds,
      chatTemplate: template.source,
      defaults: { temperature: 0 },
    },
    template: new ChatTemplate(tokenizer, files.tokenizerConfig, null, written),
    table,
    constraints: new Constraints({ table, width: 2048, eosTokenIds, encode: scripted.encode }),
    drafts: null,
    createBackend: async () => new ScriptedBackend(scripts, scripted),
  };
}

export const job = (more: Partial<GenerateJob> = {}): GenerateJob => ({
  messages: [{ role: 'user', content: 'Hi' }],
  tools: null,
  templateArguments: {},
  sampling: {},
  maxTokens: null,
  choices: 1,
  ...more,
});

type Message<Type extends FromWorker['type']> = Extract<FromWorker, { type: Type }>;

/** A service with everything it has posted. */
export class Bench {
  readonly messages: FromWorker[] = [];
  readonly service: Service;
  readonly #waiting: { test: (message: FromWorker) => boolean; resolve: (message: FromWorker) => void }[] =
    [];

  constructor(load: LoadModel) {
    this.service = new Service((message) => {
      this.messages.push(message);
      for (const entry of [...this.#waiting]) {
        if (!entry.test(message)) continue;
        this.#waiting.splice(this.#waiting.indexOf(entry), 1);
        entry.resolve(message);
      }
    }, load);
  }

  send(message: ToWorker): void {
    this.service.receive(message);
  }

  load(): void {
    this.send({
      type: 'load',
      model: { kind: 'folder', url: 'http://localhost/' },
      backend: { kind: 'scripted', turns: [] },
      wasmUrl: null,
    });
  }

  generate(request: number, more: Partial<GenerateJob> = {}): void {
    this.send({ type: 'generate', request, job: job(more) });
  }

  /** The next message that fits; those of the past do not count. */
  next(test: (message: FromWorker) => boolean): Promise<FromWorker> {
    return new Promise((resolve) => this.#waiting.push({ test, resolve }));
  }

  /** `done` or `failed` of a request, which may have come already. */
  async end(request: number): Promise<Message<'done'> | Message<'failed'>> {
    const isEnd = (message: FromWorker) =>
      (message.type === 'done' || message.type === 'failed') && message.request === request;
    return (this.messages.find(isEnd) ?? (await this.next(isEnd))) as Message<'done'> | Message<'failed'>;
  }

  async done(request: number): Promise<Message<'done'>> {
    const end = await this.end(request);
    if (end.type === 'failed') throw new Error(`${end.error.name}: ${end.error.message}`);
    return end;
  }

  async failed(request: number): Promise<Message<'failed'>['error']> {
    const end = await this.end(request);
    if (end.type === 'done') throw new Error(`Request ${request} was done: ${JSON.stringify(end)}`);
    return end.error;
  }

  /** Ids of a choice; checks that none was left out or sent twice. */
  tokens(request: number, choice = 0): number[] {
    const ids: number[] = [];
    for (const message of this.messages) {
      if (message.type !== 'tokens' || message.request !== request || message.choice !== choice) continue;
      if (message.from !== ids.length) throw new Error(`tokens from ${message.from} after ${ids.length}`);
      ids.push(...message.ids);
    }
    return ids;
  }

  states(request: number): string[] {
    return this.messages.flatMap((message) =>
      message.type === 'state' && message.request === request ? [message.state] : [],
    );
  }
}

export function scriptedBench(turns: ScriptedTurn[]): Bench {
  const bench = new Bench(async () => {
    const model = scriptedModel(turns);
    return { model, backend: await model.createBackend() };
  });
  bench.load();
  return bench;
}
