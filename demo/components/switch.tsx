import type { Signal } from '@preact/signals';

/** A switch for a preference. */
export function Switch({ label, value }: { label: string; value: Signal<'on' | 'off'> }) {
  return (
    <label class="switch">
      <input
        type="checkbox"
        checked={value.value === 'on'}
        onChange={(event) => {
          value.value = event.currentTarget.checked ? 'on' : 'off';
        }}
      />
      <span class="switch-track" aria-hidden="true" />
      {label}
    </label>
  );
}
