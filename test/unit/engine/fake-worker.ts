/** The worker's end of the protocol in the hands of a test. */
import type { WorkerPort } from '../../../src/engine/connection.ts';
import {
  type DeviceReport,
  type FromWorker,
  type ModelReport,
  TokenFlag,
  type TokenTable,
  type ToWorker,
} from '../../../src/protocol.ts';
import { device, timings } from '../chat/scripted.ts';

export class FakeWorker extends EventTarget implements WorkerPort {
  readonly received: ToWorker[] = [];
  terminated = false;
  /** Answers messages as they come; a test may replace it. */
  answer: (message: ToWorker) => void = () => {};

  postMessage(message: ToWorker): void {
    if (this.terminated) return;
    // What cannot be cloned cannot cross.
    const copy = structuredClone(message);
    this.received.push(copy);
    queueMicrotask(() => this.answer(copy));
  }

  terminate(): void {
    this.terminated = true;
  }

  emit(...messages: FromWorker[]): void {
    for (const message of messages) {
      if (!this.terminated) this.dispatchEvent(new MessageEvent('message', { data: message }));
    }
  }

  crash(message?: string): void {
    this.dispatchEvent(Object.assign(new Event('error'), message === undefined ? {} : { message }));
  }

  /** @param report what the model has beside what all of them have */
  emitLoaded(report: Partial<ModelReport> = {}, onDevice: Partial<DeviceReport> = {}): void {
    this.emit({
      type: 'loaded',
      model: { ...model, ...report },
      device: { ...device, ...onDevice },
      table,
      timings: { download: 1, session: 1, warmup: 0, total: 2 },
    });
  }

  /** The numbers of the requests that came in. */
  get requests(): number[] {
    return this.received.flatMap((message) => (message.type === 'generate' ? [message.request] : []));
  }

  /**
   * Answers a request with the letters of `text`, one token each, and an end of sequence.
   *
   * @param from tokens that an earlier worker has sent
   * @param isOpen the answer does not end here
   */
  reply(request: number, text: string, { from = 0, isOpen = false } = {}): void {
    const letters = text.split(/(<[^>]*>)|/).filter((token) => token);
    const ids = letters.map((letter) =>
      added.includes(letter) ? 128 + added.indexOf(letter) : letter.charCodeAt(0),
    );
    const sent = isOpen ? ids : [...ids, endOfSequence];
    if (from === 0) {
      this.emit({ type: 'started', request, promptTokenIds: Uint32Array.of(65), prompt: 'A', seed: 1 });
    }
    this.emit({ type: 'tokens', request, choice: 0, from, ids: sent });
    if (isOpen) return;
    const completionTokens = from + sent.length;
    this.emit({
      type: 'done',
      request,
      choices: [{ choice: 0, reason: 'eos', completionTokens }],
      usage: { promptTokens: 1, cachedTokens: 0, completionTokens },
      timings,
    });
  }
}

const added = ['<|im_end|>', '<think>', '</think>', '<tool_call>', '</tool_call>'];
const endOfSequence = 128;

/** ASCII, one token a character, and the added tokens of Qwen3. */
const table: TokenTable = (() => {
  const encoder = new TextEncoder();
  const tokens = [
    ...Array.from({ length: 128 }, (_, code) => Uint8Array.of(code)),
    ...added.map((text) => encoder.encode(text)),
  ];
  const offsets = new Uint32Array(tokens.length + 1);
  tokens.forEach((token, id) => {
    offsets[id + 1] = offsets[id]! + token.length;
  });
  const bytes = new Uint8Array(offsets.at(-1)!);
  for (const [id, token] of tokens.entries()) bytes.set(token, offsets[id]);
  const flags = Uint8Array.from(tokens, (_, id) => (id < 128 ? 0 : TokenFlag.added));
  flags[endOfSequence] = TokenFlag.added | TokenFlag.special;
  return { bytes, offsets, flags };
})();

export const model: ModelReport = {
  id: 'tiny',
  modelType: 'qwen3',
  vocabularySize: table.flags.length,
  contextLength: 100,
  eosTokenIds: [endOfSequence],
  chatTemplate: '',
  defaults: {},
};
