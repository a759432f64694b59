/** How far back a speed is measured, in milliseconds. */
const span = 4000;
/** Before so long a measured speed says little, in milliseconds. */
const least = 500;

/** Bytes a second of a download, over the last seconds. */
export class TransferSpeed {
  /** Bytes that came of each file. */
  readonly #received = new Map<string, number>();
  #samples: { time: number; bytes: number }[] = [];

  /**
   * @param received bytes of the file that came over the network
   * @param time milliseconds of any clock
   */
  add(file: string, received: number, time: number): void {
    this.#received.set(file, received);
    const bytes = [...this.#received.values()].reduce((sum, count) => sum + count, 0);
    this.#samples.push({ time, bytes });
    while (this.#samples.length > 2 && this.#samples[1]!.time <= time - span) this.#samples.shift();
  }

  /** Null while it is not known, and where nothing comes over the network. */
  get bytesPerSecond(): number | null {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (!first || !last || last.time - first.time < least || last.bytes === first.bytes) return null;
    return (1000 * (last.bytes - first.bytes)) / (last.time - first.time);
  }
}
