import { element } from './element.ts';

let count = 0;

/** What the model thinks: open while it does, folded when it is done. A click folds and unfolds it. */
export class ThinkingPanel {
  readonly root: HTMLElement;
  private readonly toggle: HTMLButtonElement;
  private readonly label: HTMLElement;
  private readonly body: HTMLElement;
  private readonly text = document.createTextNode('');
  private readonly started = performance.now();
  private open = true;
  private touched = false;

  constructor() {
    const id = `thinking-${++count}`;
    this.label = element('span', { class: 'thinking-label' }, 'Thinking…');
    this.toggle = element(
      'button',
      { type: 'button', class: 'thinking-toggle', 'aria-expanded': 'true', 'aria-controls': id },
      element('span', { class: 'chevron', 'aria-hidden': 'true' }),
      this.label,
    );
    this.toggle.addEventListener('click', () => {
      this.touched = true;
      this.setOpen(!this.open);
    });
    this.body = element('div', { id, class: 'thinking-body', dir: 'auto' }, this.text);
    this.root = element('section', { class: 'thinking running' }, this.toggle, this.body);
  }

  append(text: string): void {
    const atEnd = this.body.scrollHeight - this.body.scrollTop - this.body.clientHeight < 24;
    this.text.appendData(text);
    if (atEnd) this.body.scrollTop = this.body.scrollHeight;
  }

  /** The thought is over. Folds the panel unless it was cut short or the reader has taken it in hand. */
  finish(stopped = false): void {
    const seconds = ((performance.now() - this.started) / 1000).toFixed(1);
    this.label.textContent = stopped ? `Stopped thinking after ${seconds} s` : `Thought for ${seconds} s`;
    this.root.classList.remove('running');
    if (!stopped && !this.touched) this.setOpen(false);
  }

  private setOpen(open: boolean): void {
    this.open = open;
    this.body.hidden = !open;
    this.toggle.setAttribute('aria-expanded', String(open));
  }
}
