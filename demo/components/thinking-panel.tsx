import { memo } from 'preact/compat';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { thoughtsOpen } from '../preferences.ts';

interface ThinkingPanelProps {
  text: string;
  /** How long the thought took; `null` while it goes on. */
  milliseconds: number | null;
  /** It was cut short, and stays to be seen. */
  stopped: boolean;
}

/**
 * What the model thinks: unfolded while it does; when it is done, one line, unless the reader likes it otherwise.
 * How the reader left the last one is how the next ones end.
 */
export const ThinkingPanel = memo(({ text, milliseconds, stopped }: ThinkingPanelProps) => {
  const id = useId();
  const [chosen, choose] = useState<boolean | null>(null);
  // As it was when this one came: those that are there do not move when another is unfolded.
  const [staysOpen] = useState(() => thoughtsOpen.peek() === 'on');
  const running = milliseconds === null;
  const open = chosen ?? (running || stopped || staysOpen);
  return (
    <section class={running ? 'thinking running' : 'thinking'} aria-label="Thinking">
      <button
        type="button"
        class="thinking-toggle"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => {
          choose(!open);
          if (!running) thoughtsOpen.value = open ? 'off' : 'on';
        }}
      >
        <span class="chevron" aria-hidden="true" />
        <span class="thinking-label">{label(milliseconds, stopped)}</span>
        {!open && <span class="thinking-summary">{summary(text)}</span>}
      </button>
      <div id={id} class="thinking-body" dir="auto" hidden={!open}>
        {open && <Thought text={text} running={running} />}
      </div>
    </section>
  );
});

/** The text, whose end stays in view while it grows and the reader has not scrolled up. */
function Thought({ text, running }: { text: string; running: boolean }) {
  const end = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    const box = end.current;
    if (box && running && follows.current) box.scrollTop = box.scrollHeight;
  }, [text, running]);
  return (
    <div
      ref={end}
      class="thinking-text"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard.
      tabIndex={0}
      role="group"
      aria-label="Thought"
      onScroll={({ currentTarget: box }) => {
        follows.current = box.scrollHeight - box.scrollTop - box.clientHeight < 24;
      }}
    >
      {text.trim()}
    </div>
  );
}

function label(milliseconds: number | null, stopped: boolean): string {
  if (milliseconds === null) return 'Thinking…';
  if (stopped) return 'Stopped thinking';
  if (milliseconds === 0) return 'Thought';
  const seconds = milliseconds / 1000;
  return `Thought for ${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
}

/** The last sentence is mostly what the thought came to. */
function summary(text: string): string {
  const lines = text.trim().split(/(?<=[.!?])\s+|\n+/);
  return lines.findLast((line) => line.trim() !== '')?.trim() ?? '';
}
