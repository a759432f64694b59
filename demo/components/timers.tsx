import { useEffect, useState } from 'preact/hooks';
import type { Timer } from '../tools/timer.ts';
import { timers } from '../tools/timers.ts';
import { announce } from './announcer.tsx';

/** The running and ended timers, with their remaining time. */
export function Timers() {
  const [list, setList] = useState(timers.all());
  const [, tick] = useState(0);
  const running = list.some(({ ended }) => !ended);
  useEffect(() => {
    const announced = new Set<number>();
    const onChange = () => {
      const all = timers.all();
      setList(all);
      for (const timer of all) {
        if (!timer.ended || announced.has(timer.id)) continue;
        announced.add(timer.id);
        announce(`${nameOf(timer)} is over.`);
      }
    };
    timers.addEventListener('change', onChange);
    return () => timers.removeEventListener('change', onChange);
  }, []);
  useEffect(() => {
    if (!running) return;
    const handle = setInterval(() => tick((count) => count + 1), 1000);
    return () => clearInterval(handle);
  }, [running]);
  if (list.length === 0) return null;
  return (
    <ul class="timers" aria-label="Timers">
      {list.map((timer) => (
        <li key={timer.id} class={timer.ended ? 'timer ended' : 'timer'}>
          <span>{nameOf(timer)}</span>
          <time>{timer.ended ? 'Time is up' : remaining(timer)}</time>
          <button
            type="button"
            aria-label={`Remove: ${nameOf(timer)}`}
            onClick={() => timers.remove(timer.id)}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  );
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
