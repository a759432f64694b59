import { type Arguments, optionalText, requireNumber, type Tool, ToolError } from './tool.ts';

export interface Timer {
  id: number;
  label: string | null;
  minutes: number;
  /** Milliseconds since the epoch. */
  endsAt: number;
  ended: boolean;
}

/** A day: what a tab can be expected to live. */
const maximumMinutes = 1440;

/** The timers of this page. Fires `change` when one starts, ends or is removed. */
export class TimerList extends EventTarget {
  private readonly timers = new Map<number, { timer: Timer; handle: ReturnType<typeof setTimeout> }>();
  private nextId = 1;

  /** In the order they were started. */
  all(): Timer[] {
    return [...this.timers.values()].map(({ timer }) => timer);
  }

  start(minutes: number, label: string | null): Timer {
    const duration = minutes * 60_000;
    const timer: Timer = { id: this.nextId++, label, minutes, endsAt: Date.now() + duration, ended: false };
    const handle = setTimeout(() => {
      timer.ended = true;
      this.changed();
    }, duration);
    this.timers.set(timer.id, { timer, handle });
    this.changed();
    return timer;
  }

  clear(): void {
    for (const { handle } of this.timers.values()) clearTimeout(handle);
    this.timers.clear();
    this.changed();
  }

  remove(id: number): void {
    const entry = this.timers.get(id);
    if (!entry) return;
    clearTimeout(entry.handle);
    this.timers.delete(id);
    this.changed();
  }

  private changed(): void {
    this.dispatchEvent(new Event('change'));
  }
}

/** A timer has whole minutes: a call that counts the seconds of the question as minutes is not what was meant. */
function meansSeconds(question: string, minutes: number): boolean {
  const seconds = new RegExp(`(?<![\\d.,])${minutes}[\\s-]*(?:s|secs?|seconds?)\\b`, 'i');
  const same = new RegExp(`(?<![\\d.,])${minutes}[\\s-]*(?:m|mins?|minutes?)\\b`, 'i');
  return seconds.test(question) && !same.test(question);
}

/** `question`: what the user asked for, against which the call's unit is checked. */
export function createSetTimer(list: TimerList, question = ''): Tool {
  return {
    run(args: Arguments) {
      const minutes = requireNumber(args, 'minutes');
      if (!Number.isInteger(minutes) || minutes < 1) throw new ToolError('minutes must be a whole number');
      if (minutes > maximumMinutes) throw new ToolError('the timer is too long');
      if (meansSeconds(question, minutes)) throw new ToolError('timers have whole minutes, not seconds');
      list.start(minutes, optionalText(args, 'label'));
      return { status: 'ok' };
    },
  };
}
