import { effect, type Signal, signal } from '@preact/signals';

/** A choice that this browser remembers. Where it keeps nothing, the choice lives as long as the page. */
function preference<Value extends string>(
  key: string,
  initial: Value,
  known: readonly Value[],
): Signal<Value> {
  const name = `tokenprism-demo-${key}`;
  const stored = read(name);
  const value = signal(known.find((candidate) => candidate === stored) ?? initial);
  effect(() => write(name, value.value));
  return value;
}

function read(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function write(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Nothing is lost but the memory of a choice.
  }
}

const onOff = ['on', 'off'] as const;

/** Whether the model thinks before it answers. */
export const thinking = preference('thinking', 'on', onOff);
/** Whether the chat offers its tools to the model. */
export const chatTools = preference('chat-tools', 'on', onOff);
/** Whether thoughts that are done stay unfolded: as the reader last left one. */
export const thoughtsOpen = preference('thoughts-open', 'off', onOff);
