import { BadRequestError, DeviceLostError, deserializeError, ModelLoadError } from '../../../src/errors.ts';
import type { DeviceReport, ScriptedTurn } from '../../../src/protocol.ts';
import type { Backend, Logits, Sequence } from '../backend.ts';

/** A turn whose tokens are known. */
interface Script {
  ids: readonly number[];
  delay: number;
  firstDelay: number;
  /** What befalls the pass that gives the token of this index. */
  faults: Map<number, Fault>;
}

type Fault = 'device' | 'crash' | Error;

export interface ScriptedModel {
  encode(text: string): number[];
  eosTokenId: number;
  vocabularySize: number;
  contextLength: number;
}

/** Finite, so that a grammar that forbids the scripted token leaves the others to draw from. */
const UNLIKELY = -1e4;

/** The scripts and which one is next; outlives the backends that a simulated loss ends. */
export class ScriptedTurns {
  readonly #scripts: Script[];
  #next = 0;

  /**
   * @param answered turns that were given by earlier workers; unset in the first one. What ended the last worker does not
   *   come again
   * @throws ModelLoadError when there are no turns, or ids that the vocabulary does not have
   */
  constructor(turns: readonly ScriptedTurn[], model: ScriptedModel, answered?: number) {
    if (turns.length === 0) throw new ModelLoadError('The scripted backend needs at least one turn.');
    this.#scripts = turns.map((turn, index) => {
      const ids = turn.ids ? [...turn.ids] : model.encode(turn.text ?? '');
      const wrong = ids.find((id) => !Number.isInteger(id) || id < 0 || id >= model.vocabularySize);
      if (wrong !== undefined) {
        throw new ModelLoadError(
          `Scripted turn ${index} has the id ${wrong}, which is not in the vocabulary.`,
        );
      }
      if (!turn.open) ids.push(model.eosTokenId);
      const { delay = 0, firstDelay = delay } = turn;
      return { ids, delay, firstDelay, faults: faultsOf(turn) };
    });
    if (answered === undefined) return;
    this.#next = answered;
    const { faults } = this.#scripts[answered % turns.length]!;
    for (const [at, fault] of faults) if (!(fault instanceof Error)) faults.delete(at);
  }

  take(): Script {
    return this.#scripts[this.#next++ % this.#scripts.length]!;
  }
}

function faultsOf({ loseDeviceAt, crashAt, error }: ScriptedTurn): Map<number, Fault> {
  const faults = new Map<number, Fault>();
  if (error) {
    const { name, message, at = 0 } = error;
    faults.set(at, deserializeError({ name, message, status: 500, code: null, param: null }));
  }
  if (loseDeviceAt !== undefined) faults.set(loseDeviceAt, 'device');
  if (crashAt !== undefined) faults.set(crashAt, 'crash');
  return faults;
}

/**
 * Gives out written answers as one-hot logits, so that queue, sampler, protocol and page run as with a model.
 * A prompt takes its turn when its last piece is fed; what is fed after a truncation is another prompt.
 */
export class ScriptedBackend implements Backend {
  readonly report: DeviceReport;
  readonly capacity: number;
  readonly width: number;
  readonly canTruncate = true;
  readonly prefillPiece = 64;
  readonly lost: Promise<Error>;
  readonly #turns: ScriptedTurns;
  readonly reducer = null;
  readonly #eosTokenId: number;
  #lose: (error: Error) => void = () => {};

  constructor(turns: ScriptedTurns, model: ScriptedModel) {
    this.#turns = turns;
    this.#eosTokenId = model.eosTokenId;
    this.capacity = model.contextLength;
    this.width = model.vocabularySize;
    this.lost = new Promise((resolve) => {
      this.#lose = resolve;
    });
    this.report = {
      device: 'scripted',
      reason: 'Scripted answers were given: no model runs.',
      adapter: null,
      dtype: 'none',
      decode: 'scripted',
      sampling: 'cpu',
      limits: [],
    };
  }

  async open(): Promise<Sequence> {
    return new ScriptedSequence(this.#turns, this, this.#eosTokenId, (error) => this.#lose(error));
  }

  async copy(sequence: Sequence, length: number): Promise<Sequence> {
    const copy = new ScriptedSequence(this.#turns, this, this.#eosTokenId, (error) => this.#lose(error));
    copy.hold(Math.min(length, sequence.length));
    return copy;
  }

  memory(): null {
    return null;
  }

  async close(): Promise<void> {}
}

class ScriptedSequence implements Sequence {
  readonly bytes = 0;
  #length = 0;
  #script: Script | null = null;
  /** Tokens held when the script began. */
  #promptLength = 0;
  readonly #row: Float32Array;
  readonly #turns: ScriptedTurns;
  readonly #capacity: number;
  readonly #eosTokenId: number;
  readonly #lose: (error: Error) => void;

  constructor(turns: ScriptedTurns, backend: Backend, eosTokenId: number, lose: (error: Error) => void) {
    this.#turns = turns;
    this.#capacity = backend.capacity;
    this.#eosTokenId = eosTokenId;
    this.#lose = lose;
    this.#row = new Float32Array(backend.width).fill(UNLIKELY);
  }

  get length(): number {
    return this.#length;
  }

  /** As if so many tokens had been fed. */
  hold(length: number): void {
    this.#length = length;
  }

  async forward(ids: readonly number[], rows = 1): Promise<Logits> {
    if (this.#length + ids.length > this.#capacity) {
      throw new BadRequestError(`The sequence holds at most ${this.#capacity} tokens.`, {
        code: 'context_length_exceeded',
      });
    }
    this.#length += ids.length;
    if (rows > 0 && this.#script === null) {
      this.#script = this.#turns.take();
      this.#promptLength = this.#length;
    }
    const script = this.#script;
    const first = this.#length - this.#promptLength - rows + 1;
    if (script && rows > 0) {
      const token = first + rows - 1;
      const delay = token === 0 ? script.firstDelay : script.delay;
      if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
      const fault = script.faults.get(token);
      if (fault) await this.#fail(fault);
    }
    const row = this.#row;
    return {
      rows,
      width: row.length,
      onGpu: () => null,
      read: async (index) => {
        row.fill(UNLIKELY);
        row[script?.ids[first + index] ?? this.#eosTokenId] = 0;
        return row;
      },
      release: () => {},
    };
  }

  /** Rejects; a crash leaves nobody who could wait for it. */
  async #fail(fault: Fault): Promise<never> {
    if (fault === 'crash') {
      reportError(new Error('The worker crashes, as its script says.'));
      return new Promise(() => {});
    }
    if (fault instanceof Error) throw fault;
    const error = new DeviceLostError('The scripted device was lost, as its script says.');
    this.#lose(error);
    throw error;
  }

  async truncate(length: number): Promise<void> {
    this.#length = Math.min(this.#length, length);
    this.#script = null;
  }

  close(): void {
    this.#script = null;
  }
}
