import type { Backend, Logits, Sequence } from '../../../worker/backends/backend.ts';
import type { Drafter, DraftRequest } from '../../../worker/drafts/drafter.ts';
import { Drafts } from '../../../worker/drafts/drafts.ts';

const width = 2048;
const unlikely = -1e4;

/** Some 32 bits that depend on all of the numbers. */
export function mixed(...numbers: number[]): number {
  let bits = 0x9e3779b9;
  for (const number of numbers) {
    bits = Math.imul(bits ^ number, 0x85ebca6b);
    bits ^= bits >>> 13;
  }
  return bits >>> 0;
}

/** A backend whose logits are a function of the last three tokens: seven tokens are likely, which ones and how depends. */
export class MadeUpBackend implements Backend {
  readonly report = {
    device: 'wasm' as const,
    reason: '',
    adapter: null,
    dtype: '',
    decode: 'growing' as const,
    sampling: 'cpu' as const,
    limits: [],
  };
  readonly width = width;
  readonly canTruncate: boolean;
  readonly capacity: number;
  readonly prefillPiece = 16;
  readonly reducer = null;
  readonly lost = new Promise<Error>(() => {});
  /** What each sequence holds. */
  readonly held: number[][] = [];
  /** Passes that kept logits. */
  passes = 0;

  constructor(capacity: number, canTruncate = true) {
    this.capacity = capacity;
    this.canTruncate = canTruncate;
  }

  async open(): Promise<Sequence> {
    return this.#sequence([]);
  }

  async copy(sequence: Sequence, length: number): Promise<Sequence> {
    return this.#sequence((sequence as MadeUpSequence).ids.slice(0, length));
  }

  memory(): null {
    return null;
  }

  async close(): Promise<void> {}

  #sequence(ids: number[]): Sequence {
    this.held.push(ids);
    return new MadeUpSequence(ids, this);
  }
}

class MadeUpSequence implements Sequence {
  readonly bytes = 0;
  readonly ids: number[];
  readonly #backend: MadeUpBackend;

  constructor(ids: number[], backend: MadeUpBackend) {
    this.ids = ids;
    this.#backend = backend;
  }

  get length(): number {
    return this.ids.length;
  }

  async forward(ids: readonly number[], rows = 1): Promise<Logits> {
    const { capacity } = this.#backend;
    if (this.ids.length + ids.length > capacity || rows > ids.length)
      throw new Error('Too much was asked for.');
    if (rows > 0) this.#backend.passes++;
    this.ids.push(...ids);
    const end = this.ids.length;
    // As after the pass, whatever is cut off later.
    const all = this.ids.slice();
    return {
      rows,
      width,
      onGpu: () => null,
      read: async (row) => rowAfter(all.slice(0, end - rows + 1 + row)),
      release: () => {},
    };
  }

  async truncate(length: number): Promise<void> {
    if (!this.#backend.canTruncate) throw new Error('This state can not be cut back.');
    this.ids.length = Math.min(this.ids.length, length);
  }

  close(): void {}
}

function rowAfter(ids: readonly number[]): Float32Array {
  const row = new Float32Array(width).fill(unlikely);
  const last = ids.slice(-3);
  for (let index = 0; index < 7; index++) {
    row[300 + (mixed(...last, index) % 40)] = (mixed(...last, index, 1) % 1000) / 250;
  }
  return row;
}

/** Drafts at random what will come, something else, or nothing; some drafts are right for a while. */
export class RandomDrafts extends Drafts {
  readonly #answer: readonly number[];
  readonly #seed: number;

  /** @param answer what will come */
  constructor(answer: readonly number[], seed: number) {
    super({ pass: () => {}, chosen: () => {}, of: () => 1 });
    this.#answer = answer;
    this.#seed = seed;
  }

  override follow(): Drafter {
    return new RandomDrafter(this.#answer, this.#seed);
  }
}

class RandomDrafter implements Drafter {
  readonly isHopeful = true;
  readonly #answer: readonly number[];
  readonly #seed: number;
  #taken = 0;

  constructor(answer: readonly number[], seed: number) {
    this.#answer = answer;
    this.#seed = seed;
  }

  take(): void {
    this.#taken++;
  }

  draft({ room, ends, ahead }: DraftRequest): number[] {
    const random = (of: number, ...more: number[]) => mixed(this.#seed, this.#taken, ...more) % of;
    const most = Math.min(room, random(9, 1));
    const right = random(9, 2);
    return ahead((draft) => {
      const id =
        draft.length < right ? this.#answer[this.#taken + draft.length] : 300 + random(40, draft.length);
      return id === undefined || ends(id) ? null : id;
    }, most);
  }
}
