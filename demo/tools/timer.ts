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

export function createSetTimer(list: TimerList): Tool {
  return {
    run(args: Arguments) {
      const minutes = requireNumber(args, 'minutes');
      if (!Number.isInteger(minutes) || minutes < 1) throw new ToolError('minutes must be a whole number');
      if (minutes > maximumMinutes) throw new ToolError('the timer is too long');
      list.start(minutes, optionalText(args, 'label'));
      return { status: 'ok' };
    },
  };
}

export const timers = new TimerList();

export const setTimer = createSetTimer(timers);
