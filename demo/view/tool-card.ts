import { element } from './element.ts';
import { highlightJson, prettyJson } from './json-text.ts';

type State = 'writing' | 'waiting' | 'running' | 'done' | 'failed' | 'cut';

const stateLabels: Record<State, string> = {
  writing: 'Writing arguments…',
  waiting: 'Waiting',
  running: 'Running…',
  done: 'Done',
  failed: 'Failed',
  cut: 'Cut, not run',
};

/** One tool call: its name, its arguments as they come, and what became of it. */
export class ToolCard {
  readonly root: HTMLElement;
  private readonly status = element('span', { class: 'tool-status' });
  private readonly argumentText = document.createTextNode('');
  private readonly argumentBox: HTMLElement;
  private readonly remark: string | null;
  private state: State = 'writing';

  /** `remark` is shown under the result. */
  constructor(name: string, remark: string | null) {
    this.remark = remark;
    this.argumentBox = element('code', {}, this.argumentText);
    this.root = element(
      'section',
      { class: 'tool', 'aria-label': `Tool call: ${name}` },
      element(
        'header',
        { class: 'tool-header' },
        element('span', { class: 'tool-mark', 'aria-hidden': 'true' }),
        element('span', { class: 'tool-name' }, name),
        this.status,
      ),
      element('pre', { class: 'tool-arguments', 'aria-label': 'Arguments' }, this.argumentBox),
    );
    this.setState('writing');
  }

  appendArguments(text: string): void {
    this.argumentText.appendData(text);
  }

  /** No more arguments come. A call that was not named incomplete is whole. */
  finishArguments(): void {
    if (this.state !== 'writing') return;
    this.argumentBox.replaceChildren(highlightJson(prettyJson(this.argumentText.data)));
    this.setState('waiting');
  }

  markCut(): void {
    this.setState('cut');
  }

  markRunning(): void {
    this.finishArguments();
    this.setState('running');
  }

  showResult(result: string, milliseconds: number): void {
    const error = errorOf(result);
    this.setState(error === null ? 'done' : 'failed');
    if (milliseconds >= 1) this.status.append(` in ${Math.round(milliseconds)} ms`);
    this.root.append(
      error === null
        ? element('pre', { class: 'tool-result', 'aria-label': 'Result' }, highlightJson(prettyJson(result)))
        : element('p', { class: 'tool-error' }, error),
    );
    if (this.remark !== null && error === null) {
      this.root.append(element('p', { class: 'tool-remark' }, this.remark));
    }
  }

  /** The answer was stopped: what had not run will not. */
  stop(): void {
    if (this.state === 'writing') this.markCut();
    else if (this.state === 'waiting' || this.state === 'running') {
      this.setState('failed');
      this.status.textContent = 'Stopped, not run';
    }
  }

  private setState(state: State): void {
    this.state = state;
    this.root.dataset.state = state;
    this.status.textContent = stateLabels[state];
  }
}

/** The message of `{"error": "…"}`, `null` for any other result. */
function errorOf(result: string): string | null {
  try {
    const value: unknown = JSON.parse(result);
    if (typeof value !== 'object' || value === null || !('error' in value)) return null;
    return String(value.error);
  } catch {
    return null;
  }
}
