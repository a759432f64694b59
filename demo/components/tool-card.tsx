import { memo } from 'preact/compat';
import type { CallState } from '../conversation/parts.ts';
import { prettyJson } from './json-text.ts';
import { JsonView } from './json-view.tsx';

export interface ToolCardProps {
  name: string;
  arguments: string;
  state: CallState;
  /** What the model reads. */
  result: string | null;
  milliseconds: number | null;
  /** Shown under the result. */
  remark: string | null;
  /** Answers the question whether the call may run. */
  onDecide?: ((allowed: boolean) => void) | null;
}

const stateLabels: Record<CallState, string> = {
  writing: 'Writing arguments…',
  waiting: 'Waiting',
  asking: 'May it run?',
  running: 'Running…',
  done: 'Done',
  failed: 'Failed',
  cut: 'Cut, not run',
  dropped: 'Not run',
};

/** One tool call: its name, its arguments as they come, and what became of it. */
export const ToolCard = memo((props: ToolCardProps) => {
  const { name, state, result, milliseconds, remark, onDecide } = props;
  const error = state === 'failed' && result !== null ? errorOf(result) : null;
  const took = milliseconds !== null && milliseconds >= 1 ? ` in ${duration(milliseconds)}` : '';
  return (
    <section class="tool" data-state={state} aria-label={`Tool call: ${name}`}>
      <header class="tool-header">
        <span class="tool-mark" aria-hidden="true" />
        <span class="tool-name">{name}</span>
        <span class="tool-status">
          {stateLabels[state]}
          {state === 'done' || state === 'failed' ? took : ''}
        </span>
      </header>
      <pre class="tool-arguments" role="group" aria-label="Arguments">
        <code>
          {state === 'writing' || state === 'cut' ? (
            props.arguments
          ) : (
            <JsonView text={prettyJson(props.arguments)} />
          )}
        </code>
      </pre>
      {state === 'asking' && onDecide && (
        <div class="tool-decision">
          <p>This tool asks before it runs.</p>
          <button type="button" class="small primary" onClick={() => onDecide(true)}>
            Run it
          </button>
          <button type="button" class="small" onClick={() => onDecide(false)}>
            Don’t run
          </button>
        </div>
      )}
      {error !== null && <p class="tool-error">{error}</p>}
      {state === 'done' && result !== null && (
        <pre class="tool-result" role="group" aria-label="Result">
          <JsonView text={prettyJson(result)} />
        </pre>
      )}
      {state === 'done' && remark !== null && <p class="tool-remark">{remark}</p>}
    </section>
  );
});

function duration(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** The message of `{"error": "…"}`; what is told otherwise as it is. */
function errorOf(result: string): string {
  try {
    const value: unknown = JSON.parse(result);
    if (typeof value === 'object' && value !== null && 'error' in value) return String(value.error);
  } catch {
    // Told as it is.
  }
  return result;
}
