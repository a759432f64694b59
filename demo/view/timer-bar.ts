import type { Timer, TimerList } from '../tools/timer.ts';
import { button, element } from './element.ts';

/** The running and ended timers, with their remaining time. Hidden while there are none. */
export function showTimers(list: TimerList, root: HTMLElement, announce: (text: string) => void): void {
  const announced = new Set<number>();
  let ticking: ReturnType<typeof setInterval> | null = null;

  function update(): void {
    const timers = list.all();
    root.hidden = timers.length === 0;
    root.replaceChildren(...timers.map(chip));
    for (const timer of timers) {
      if (!timer.ended || announced.has(timer.id)) continue;
      announced.add(timer.id);
      announce(`${nameOf(timer)} is over.`);
    }
    const running = timers.some((timer) => !timer.ended);
    if (running) ticking ??= setInterval(tick, 1000);
    else if (ticking !== null) {
      clearInterval(ticking);
      ticking = null;
    }
  }

  /** Only the digits change, so that a button being pressed stays where it is. */
  function tick(): void {
    for (const timer of list.all()) {
      const digits = root.querySelector(`[data-timer="${timer.id}"] time`);
      if (digits && !timer.ended) digits.textContent = remaining(timer);
    }
  }

  function chip(timer: Timer): HTMLElement {
    const name = nameOf(timer);
    return element(
      'li',
      { class: timer.ended ? 'timer ended' : 'timer', 'data-timer': String(timer.id) },
      element('span', {}, name),
      element('time', {}, timer.ended ? 'Time is up' : remaining(timer)),
      button('×', () => list.remove(timer.id), { 'aria-label': `Remove: ${name}` }),
    );
  }

  list.addEventListener('change', update);
  update();
}

function nameOf(timer: Timer): string {
  return timer.label ?? (timer.minutes === 1 ? 'Timer for 1 minute' : `Timer for ${timer.minutes} minutes`);
}

/** `M:SS`, with hours in front where there are some. */
function remaining(timer: Timer): string {
  const seconds = Math.max(0, Math.ceil((timer.endsAt - Date.now()) / 1000));
  const two = (value: number) => String(value).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  const clock = `${two(minutes % 60)}:${two(seconds % 60)}`;
  return minutes < 60 ? clock.replace(/^0/, '') : `${Math.floor(minutes / 60)}:${clock}`;
}
