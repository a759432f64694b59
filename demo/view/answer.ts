import type { AgentEvent } from '../agent.ts';
import { button, element } from './element.ts';
import { MessageText } from './message-text.ts';
import { ThinkingPanel } from './thinking-panel.ts';
import { ToolCard } from './tool-card.ts';

export interface Action {
  label: string;
  run(): void;
}

const endings: Record<Extract<AgentEvent, { type: 'end' }>['reason'], string | null> = {
  answered: null,
  length: 'Cut at the token limit.',
  rounds: 'Stopped: too many rounds of tool calls without an answer.',
};

/** One answer: thoughts, tool calls and text in the order in which they happened, over all rounds. */
export class AnswerView {
  readonly root = element('article', { class: 'answer', 'aria-label': 'Answer', 'aria-busy': 'true' });
  private readonly remarkOf: (tool: string) => string | null;
  private readonly pending = element('p', { class: 'pending' });
  private thinking: ThinkingPanel | null = null;
  private text: MessageText | null = null;
  private cards = new Map<number, ToolCard>();
  /** What the current round has shown, to take back when it has to be run again. */
  private round: Element[] = [];

  constructor(remarkOf: (tool: string) => string | null) {
    this.remarkOf = remarkOf;
  }

  handle(event: AgentEvent): void {
    switch (event.type) {
      case 'round-start':
        this.root.setAttribute('aria-busy', 'true');
        this.cards = new Map();
        this.round = [];
        this.showPending('');
        break;
      case 'reasoning':
        this.endText();
        this.thinking ??= this.add(new ThinkingPanel());
        this.thinking.append(event.text);
        break;
      case 'content':
        this.endThinking();
        this.text ??= this.add(new MessageText());
        this.text.append(event.text);
        break;
      case 'call-start':
        this.endBlocks();
        this.cards.set(event.index, this.add(new ToolCard(event.name, this.remarkOf(event.name))));
        break;
      case 'call-arguments':
        this.cards.get(event.index)?.appendArguments(event.text);
        break;
      case 'call-incomplete':
        this.cards.get(event.index)?.markCut();
        break;
      case 'round-end':
        this.endBlocks();
        break;
      case 'call-running':
        this.cards.get(event.index)?.markRunning();
        break;
      case 'call-result':
        this.cards.get(event.index)?.showResult(event.result, event.milliseconds);
        break;
      case 'end': {
        this.finish();
        const notice = endings[event.reason];
        if (notice !== null) this.note(notice);
        else if (this.round.length === 0) this.note('The model gave an empty answer.');
        break;
      }
    }
  }

  /** A line while nothing has come yet in this round, for example how much of the prompt is read. */
  showPending(text: string): void {
    this.pending.replaceChildren(element('span', { class: 'dots', 'aria-hidden': 'true' }), text);
    if (this.round.length === 0) this.root.append(this.pending);
  }

  /** The reader stopped the answer. */
  stop(): void {
    this.finish(true);
    for (const card of this.cards.values()) card.stop();
    this.note('Stopped.');
  }

  /** The answer failed; an action takes the error away again. */
  fail(message: string, actions: Action[]): void {
    this.finish(true);
    for (const card of this.cards.values()) card.stop();
    const failed = this.round;
    const box = element('div', { class: 'error', role: 'alert' }, element('p', {}, message));
    const row = element('div', { class: 'error-actions' });
    for (const { label, run } of actions) {
      row.append(
        button(label, () => {
          for (const node of [...failed, box]) node.remove();
          run();
        }),
      );
    }
    if (actions.length > 0) box.append(row);
    this.root.append(box);
  }

  private add<Part extends { root: Element }>(part: Part): Part {
    this.pending.remove();
    this.root.append(part.root);
    this.round.push(part.root);
    return part;
  }

  private endThinking(stopped = false): void {
    this.thinking?.finish(stopped);
    this.thinking = null;
  }

  private endText(): void {
    this.text?.finish();
    this.text = null;
  }

  private endBlocks(stopped = false): void {
    this.endThinking(stopped);
    this.endText();
    if (!stopped) for (const card of this.cards.values()) card.finishArguments();
  }

  private finish(stopped = false): void {
    this.endBlocks(stopped);
    this.pending.remove();
    this.root.setAttribute('aria-busy', 'false');
  }

  private note(text: string): void {
    this.root.append(element('p', { class: 'note' }, text));
  }
}
