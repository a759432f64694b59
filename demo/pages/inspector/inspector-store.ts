import { computed, signal } from '@preact/signals';
import { type Engine, RequestAbortedError } from '../../../src/index.ts';
import { announce } from '../../components/announcer.tsx';
import { messageOf } from '../../conversation/run-answer.ts';
import { type InspectedRequest, type Recording, record } from './recorder.ts';
import { type Cutting, type FormatChoice, type Piece, piecesOf, type Step, stepsOf } from './steps.ts';

/** What the inspector shows: a recorded answer or a pasted output, in steps, and the one that is looked at. */
export class InspectorStore {
  readonly steps = signal<Step[]>([]);
  readonly selected = signal(0);
  /** `null` for pasted output. */
  readonly recording = signal<Recording | null>(null);
  /** Tokens that have come of an answer that is being recorded. */
  readonly coming = signal<Piece[]>([]);
  readonly error = signal<string | null>(null);
  readonly running = computed(() => this.#run.value !== null);
  readonly #run = signal<AbortController | null>(null);
  readonly step = computed(() => this.steps.value[this.selected.value] ?? null);
  /** What the parser has given out up to the step that is looked at, this included. */
  readonly output = computed(() => {
    const output = { reasoning: '', content: '', calls: [] as { name: string; arguments: string }[] };
    for (const { events } of this.steps.value.slice(0, this.selected.value + 1)) {
      for (const { kind, text } of events) {
        if (kind === 'reasoning' || kind === 'content') output[kind] += text;
        else if (kind === 'call') output.calls.push({ name: text, arguments: '' });
        else if (kind === 'arguments') output.calls.at(-1)!.arguments += text;
      }
    }
    return output;
  });

  stop(): void {
    this.#run.peek()?.abort();
  }

  select(index: number): void {
    this.selected.value = Math.max(0, Math.min(index, this.steps.value.length - 1));
  }

  clear(): void {
    this.steps.value = [];
    this.selected.value = 0;
    this.recording.value = null;
    this.coming.value = [];
    this.error.value = null;
  }

  async ask(engine: Engine, request: InspectedRequest): Promise<void> {
    if (this.#run.peek()) return;
    const abort = new AbortController();
    this.clear();
    this.#run.value = abort;
    let scheduled = false;
    try {
      const recording = await record(engine, request, {
        signal: abort.signal,
        onPiece: (pieces) => {
          if (scheduled) return;
          scheduled = true;
          // Once a frame is as often as it can be seen.
          requestAnimationFrame(() => {
            scheduled = false;
            this.coming.value = [...pieces];
          });
        },
      });
      this.recording.value = recording;
      this.#show(recording.steps);
      announce(`${recording.steps.length} steps.`);
    } catch (error) {
      const stopped = abort.signal.aborted || error instanceof RequestAbortedError;
      this.error.value = stopped ? 'Stopped: what has come is not taken apart.' : messageOf(error);
    }
    this.#run.value = null;
  }

  async paste(text: string, format: FormatChoice, cutting: Cutting, inReasoning: boolean): Promise<void> {
    this.clear();
    try {
      const prompt = inReasoning ? '\n<think>\n' : '\n';
      this.#show(await stepsOf(piecesOf(text, cutting), { format, prompt, end: 'stop' }));
    } catch (error) {
      this.error.value = messageOf(error);
    }
  }

  #show(steps: Step[]): void {
    this.steps.value = steps;
    this.selected.value = 0;
  }
}
