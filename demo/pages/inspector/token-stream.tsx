import { useLayoutEffect, useRef } from 'preact/hooks';
import { IconButton } from '../../components/icon-button.tsx';
import type { InspectorStore } from './inspector-store.ts';
import type { Step } from './steps.ts';

/** What a token became, for its colour: its first event, or nothing: a marker, or text that is still held. */
export function kindOf({ events }: Step): string {
  return events[0]?.kind ?? 'none';
}

/** All tokens in a row; arrow keys, a click or the pointer choose the one that is looked at. */
export function TokenStream({ store }: { store: InspectorStore }) {
  const list = useRef<HTMLDivElement>(null);
  const steps = store.steps.value;
  const selected = store.selected.value;
  // The focus goes along with what is looked at, once it is among the tokens.
  useLayoutEffect(() => {
    const tokens = list.current;
    if (tokens?.contains(document.activeElement))
      (tokens.children[selected] as HTMLElement | undefined)?.focus();
  }, [selected]);
  return (
    <section class="stack card" aria-label="Tokens">
      <div class="form-head">
        <h2>{`Step ${selected + 1} of ${steps.length}`}</h2>
        <span class="row-actions">
          <IconButton
            icon="left"
            label="Step back"
            disabled={selected === 0}
            onClick={() => store.select(selected - 1)}
          />
          <IconButton
            icon="right"
            label="Step on"
            disabled={selected === steps.length - 1}
            onClick={() => store.select(selected + 1)}
          />
        </span>
      </div>
      <div
        ref={list}
        class="tokens"
        role="group"
        aria-label="Token stream"
        onKeyDown={(event) => {
          const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
          if (move === undefined) return;
          event.preventDefault();
          store.select(selected + move);
        }}
      >
        {steps.map((step, index) => (
          <button
            key={index}
            type="button"
            class={`token ${kindOf(step)}`}
            tabIndex={index === selected ? 0 : -1}
            aria-pressed={index === selected}
            onClick={() => store.select(index)}
            onPointerMove={(event) => {
              // The page that moves under a pointer at rest chooses nothing.
              const moved = event.movementX !== 0 || event.movementY !== 0;
              if (event.pointerType === 'mouse' && moved && index !== selected) store.select(index);
            }}
          >
            {step.text === '' ? '∎' : visible(step.text)}
          </button>
        ))}
      </div>
      <ul class="legend" aria-label="What the colours mean">
        {['reasoning', 'content', 'call', 'arguments', 'cut', 'end', 'none'].map((kind) => (
          <li key={kind}>
            <span class={`swatch ${kind}`} aria-hidden="true" />
            {kind === 'none' ? 'marker or held' : kind}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** White space as it can be seen. */
export function visible(text: string): string {
  return text.replaceAll('\n', '⏎').replaceAll('\t', '⇥').replace(/^ | $/g, '·');
}
