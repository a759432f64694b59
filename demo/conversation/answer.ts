import { signal } from '@preact/signals';
import type { RequestProgress, ToolRunEvent } from '../../src/index.ts';
import type { AnswerEnd, CallPart, Part } from './parts.ts';

/** An answer as it is kept. */
export interface AnswerRecord {
  parts: Part[];
  /** `null` while it is being written. */
  end: AnswerEnd | null;
  /** What went wrong, for people. */
  error: string | null;
  /** Of all rounds that came to their end. */
  tokens: number;
  /** Of the last round that came to its end; `null` before. */
  tokensPerSecond: number | null;
}

export function emptyAnswer(): AnswerRecord {
  return { parts: [], end: null, error: null, tokens: 0, tokensPerSecond: null };
}

/** One frame's time where frames are drawn; a hidden page has none, and is updated seldom. */
function nextFrame(run: () => void): void {
  if (document.hidden) setTimeout(run, 100);
  else requestAnimationFrame(run);
}

/**
 * An answer while it is written. Its record is changed in place; `revision` changes once a frame at most, so that the
 * page is drawn as often as it can be seen, however fast the model is.
 */
export class LiveAnswer {
  readonly record: AnswerRecord;
  readonly revision = signal(0);
  /** A line for the time before the first token, for example how much of the prompt is read. */
  readonly pending = signal<string | null>(null);
  #thoughtSince = 0;
  /** Rounds that stood in the record before this run: those of the run count on from there. */
  #before = 0;
  #scheduled = false;
  /** Ids of calls that wait for a person. */
  readonly #asked = new Set<string>();

  constructor(record: AnswerRecord) {
    this.record = record;
  }

  get running(): boolean {
    return this.record.end === null;
  }

  /** A run begins. `inLastRound`: its first round goes on with the last one that is there. */
  begin({ inLastRound = false } = {}): void {
    const last = this.record.parts.at(-1)?.round ?? 0;
    this.#before = inLastRound ? last - 1 : last;
    this.record.end = null;
    this.record.error = null;
    this.pending.value = '';
    this.touch();
  }

  progress({ state, done, total }: RequestProgress): void {
    if (state === 'queued') this.pending.value = 'Waiting for the model';
    else if (state === 'prefilling' && done !== null && total) {
      this.pending.value = `Reading ${total.toLocaleString('en')} tokens, ${Math.floor((100 * done) / total)} %`;
    } else this.pending.value = '';
  }

  handle(event: ToolRunEvent): void {
    const round = event.round + this.#before;
    switch (event.type) {
      case 'round-start':
        this.pending.value = '';
        break;
      case 'reasoning':
      case 'content':
        this.#text(event.type, round, event.text);
        break;
      case 'call-start':
        this.#endThought();
        this.pending.value = null;
        this.record.parts.push({
          kind: 'call',
          round,
          id: event.id,
          name: event.name,
          arguments: '',
          state: 'writing',
          result: null,
          milliseconds: null,
        });
        break;
      case 'call-arguments': {
        const call = this.#calls(round)[event.index];
        if (call) call.arguments += event.text;
        break;
      }
      case 'round-end': {
        this.#endThought();
        for (const call of this.#calls(round)) if (call.state === 'writing') call.state = 'waiting';
        const { usage, tokenprism } = event.completion;
        this.record.tokens += usage?.completion_tokens ?? 0;
        this.record.tokensPerSecond = tokenprism?.timings.tokensPerSecond || this.record.tokensPerSecond;
        break;
      }
      case 'call-dropped':
        this.#update(event.id, { state: event.isCut ? 'cut' : 'dropped', arguments: event.arguments });
        break;
      case 'tool-start':
        this.#update(event.id, { state: this.#asked.has(event.id) ? 'asking' : 'running' });
        break;
      case 'tool-result':
        this.#update(event.id, {
          state: 'done',
          result: event.content,
          milliseconds: event.milliseconds,
        });
        break;
      case 'tool-error':
        this.#update(event.id, {
          state: 'failed',
          result: event.content,
          milliseconds: event.milliseconds,
        });
        break;
      case 'end':
        this.finish(event.result.reason);
        break;
    }
    this.touch();
  }

  /** A person is asked whether a call may run; `false`: it is decided. Also before the call's own events are here. */
  setAsking(id: string, asking: boolean): void {
    if (asking) this.#asked.add(id);
    else this.#asked.delete(id);
    if (this.running) this.#update(id, { state: asking ? 'asking' : 'running' });
    this.touch();
  }

  finish(end: AnswerEnd, error: string | null = null): void {
    this.#endThought();
    for (const part of this.record.parts) {
      if (part.kind !== 'call' || part.result !== null) continue;
      if (part.state === 'writing') part.state = 'cut';
      else if (part.state !== 'cut') part.state = 'dropped';
    }
    this.record.end = end;
    this.record.error = error;
    this.pending.value = null;
    this.touch();
  }

  touch(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    nextFrame(() => {
      this.#scheduled = false;
      this.revision.value++;
    });
  }

  #text(kind: 'reasoning' | 'content', round: number, text: string): void {
    const { parts } = this.record;
    const last = parts.at(-1);
    this.pending.value = null;
    if (last?.kind === kind && last.round === round) {
      if (last.kind === 'reasoning' && last.milliseconds !== null) {
        // A thought that was cut goes on: the time before counts.
        this.#thoughtSince = performance.now() - last.milliseconds;
        last.milliseconds = null;
      }
      last.text += text;
      return;
    }
    // The white space between a family's blocks is no part of the answer.
    if (kind === 'content' && text.trim() === '') return;
    this.#endThought();
    if (kind === 'content') parts.push({ kind, round, text: text.trimStart() });
    else {
      this.#thoughtSince = performance.now();
      parts.push({ kind, round, text, milliseconds: null });
    }
  }

  #endThought(): void {
    const thought = this.record.parts.findLast((part) => part.kind === 'reasoning');
    if (thought?.milliseconds === null) thought.milliseconds = performance.now() - this.#thoughtSince;
  }

  #calls(round: number): CallPart[] {
    return this.record.parts.filter((part) => part.kind === 'call' && part.round === round) as CallPart[];
  }

  #update(id: string, change: Partial<CallPart>): void {
    const call = this.record.parts.findLast((part) => part.kind === 'call' && part.id === id);
    if (call) Object.assign(call, change);
  }
}
