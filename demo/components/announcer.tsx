import { signal } from '@preact/signals';

const text = signal('');

/** Says something to people who don't see the page: the few things that they would wait for. */
export function announce(said: string): void {
  text.value = said;
}

export function Announcer() {
  return (
    <div class="visually-hidden" role="status">
      {text}
    </div>
  );
}
