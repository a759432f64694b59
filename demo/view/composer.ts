import { byId } from './element.ts';

const thinkingKey = 'tokenprism-demo-thinking';

/** The box to write in. Enter sends, Shift+Enter breaks the line, Escape stops the answer. */
export class Composer {
  private readonly form = byId('composer', HTMLFormElement);
  private readonly input = byId('question', HTMLTextAreaElement);
  private readonly send = byId('send', HTMLButtonElement);
  private readonly stop = byId('stop', HTMLButtonElement);
  private readonly thinkingSwitch = byId('thinking', HTMLInputElement);
  private ready = false;
  private running = false;

  constructor(onSend: (question: string) => void, onStop: () => void) {
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      const question = this.input.value.trim();
      if (!this.ready || this.running || question === '') return;
      this.input.value = '';
      this.update();
      onSend(question);
    });
    this.input.addEventListener('keydown', (event) => {
      // While an input method composes, Enter chooses a word.
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.form.requestSubmit();
    });
    this.input.addEventListener('input', () => this.update());
    this.stop.addEventListener('click', onStop);
    document.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && this.running && !event.isComposing) onStop();
    });
    this.thinkingSwitch.checked = readSetting(thinkingKey) !== 'off';
    this.thinkingSwitch.addEventListener('change', () => {
      writeSetting(thinkingKey, this.thinkingSwitch.checked ? 'on' : 'off');
    });
    this.update();
  }

  get thinking(): boolean {
    return this.thinkingSwitch.checked;
  }

  /** `ready`: the model can be asked; `running`: it is answering. */
  setState(state: { ready?: boolean; running?: boolean }): void {
    const hadFocus = document.activeElement === this.send || document.activeElement === this.stop;
    this.ready = state.ready ?? this.ready;
    this.running = state.running ?? this.running;
    this.update();
    // The button that was pressed is gone: the keyboard must not be thrown back to the top of the page.
    if (hadFocus) (this.running ? this.stop : this.input).focus();
  }

  focus(): void {
    this.input.focus();
  }

  private update(): void {
    this.stop.hidden = !this.running;
    this.send.hidden = this.running;
    this.send.disabled = !this.ready || this.input.value.trim() === '';
    this.input.style.height = 'auto';
    this.input.style.height = `${this.input.scrollHeight}px`;
  }
}

/** Settings are a comfort: where the browser keeps nothing, the default holds. */
function readSetting(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function writeSetting(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Nothing is lost but the memory of a switch.
  }
}
