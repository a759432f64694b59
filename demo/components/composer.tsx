import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface ComposerProps {
  placeholder: string;
  /** The model can be asked. */
  ready: boolean;
  running: boolean;
  onSend(text: string): void;
  onStop(): void;
  /** What stands beside the button, for example switches. */
  children?: ComponentChildren;
}

/** The box to write in. Enter sends, Shift+Enter breaks the line, Escape stops the answer. */
export function Composer({ placeholder, ready, running, onSend, onStop, children }: ComposerProps) {
  const [text, setText] = useState('');
  const input = useRef<HTMLTextAreaElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const hadFocus = useRef(false);
  const canSend = ready && !running && text.trim() !== '';

  useLayoutEffect(() => {
    const area = input.current;
    if (!area) return;
    area.style.height = 'auto';
    area.style.height = `${area.scrollHeight}px`;
  }, [text]);

  useEffect(() => {
    if (!running) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !event.isComposing && !event.defaultPrevented) onStop();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [running, onStop]);

  // The button that was pressed is disabled or another: the keyboard must not be thrown to the top of the page.
  useEffect(() => {
    if (!running && hadFocus.current) input.current?.focus();
    hadFocus.current = false;
  }, [running]);

  function send(): void {
    if (!canSend) return;
    setText('');
    onSend(text.trim());
  }

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={input}
        rows={1}
        value={text}
        placeholder={placeholder}
        aria-label="Your message"
        autocomplete="off"
        enterkeyhint="send"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          // While an input method composes, Enter chooses a word.
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <div class="composer-row">
        {children}
        {/* Two buttons, not one that changes: a click on the first must not be one on the second. */}
        {running ? (
          <button
            key="stop"
            ref={button}
            type="button"
            class="round stop"
            aria-label="Stop"
            title="Stop (Esc)"
            onClick={() => {
              hadFocus.current = document.activeElement === button.current;
              onStop();
            }}
          >
            <Icon name="stop" />
          </button>
        ) : (
          <button
            key="send"
            type="submit"
            class="round primary"
            aria-label="Send"
            title="Send"
            disabled={!canSend}
          >
            <Icon name="send" />
          </button>
        )}
      </div>
    </form>
  );
}
