import { type Engine, RequestAbortedError, TokenprismError } from '../src/index.ts';
import { Agent, type AgentEvent, type RunOptions } from './agent.ts';
import { demoTools } from './tools/index.ts';
import { type Action, AnswerView } from './view/answer.ts';
import type { Composer } from './view/composer.ts';
import { byId, element } from './view/element.ts';
import type { Follow } from './view/follow.ts';

export interface ChatParts {
  engine: Engine;
  composer: Composer;
  follow: Follow;
  /** Says something to people who don't see the page. */
  announce(text: string): void;
  /** Loads the engine anew: the way on when it is of no more use. */
  reload(): void;
}

/** The conversation on the page: one question at a time, and what came of each. */
export class Chat {
  private readonly parts: ChatParts;
  private readonly welcome = byId('welcome', HTMLElement);
  private readonly transcript = byId('transcript', HTMLElement);
  private readonly speed = byId('speed', HTMLElement);
  private agent: Agent;
  private running: AbortController | null = null;

  constructor(parts: ChatParts) {
    this.parts = parts;
    this.agent = this.createAgent();
  }

  ask(question: string): void {
    if (this.running) return;
    this.welcome.hidden = true;
    this.transcript.append(element('p', { class: 'question', dir: 'auto' }, question));
    const answer = new AnswerView(demoTools.remark);
    this.transcript.append(answer.root);
    void this.answer(answer, this.agent, (options) => this.agent.ask(question, options));
  }

  stop(): void {
    this.running?.abort();
  }

  /** Stops what runs and forgets everything. */
  clear(): void {
    this.stop();
    this.end();
    this.agent = this.createAgent();
    this.transcript.replaceChildren();
    this.speed.textContent = '';
    this.welcome.hidden = false;
    this.parts.composer.focus();
  }

  private createAgent(): Agent {
    const { completions } = this.parts.engine.chat;
    return new Agent((body, options) => completions.create(body, options), demoTools);
  }

  private async answer(
    view: AnswerView,
    agent: Agent,
    run: (options: RunOptions) => AsyncGenerator<AgentEvent, void, undefined>,
  ): Promise<void> {
    const { composer, follow, announce } = this.parts;
    const abort = new AbortController();
    this.running = abort;
    composer.setState({ running: true });
    follow.start();
    try {
      const options: RunOptions = {
        thinking: composer.thinking,
        signal: abort.signal,
        onProgress: ({ state, done, total }) => {
          if (state === 'queued') view.showPending('Waiting for the model');
          else if (state === 'prefilling' && done !== null && total)
            view.showPending(`Reading ${total} tokens, ${Math.floor((100 * done) / total)} %`);
          else view.showPending('');
        },
      };
      for await (const event of run(options)) {
        view.handle(event);
        if (event.type === 'round-end' && event.tokensPerSecond) {
          this.speed.textContent = `${formatSpeed(event.tokensPerSecond)} tokens/s`;
        }
      }
      announce('The answer is complete.');
    } catch (error) {
      if (abort.signal.aborted || error instanceof RequestAbortedError) {
        view.stop();
        announce('Stopped.');
      } else {
        view.fail(messageOf(error), this.waysOn(error, view, agent));
      }
    } finally {
      // A chat that was cleared meanwhile may already run the next answer.
      if (this.running === abort) this.end();
    }
  }

  private end(): void {
    this.running = null;
    this.parts.composer.setState({ running: false });
    this.parts.follow.stop();
  }

  private waysOn(error: unknown, view: AnswerView, agent: Agent): Action[] {
    if (error instanceof TokenprismError && error.code === 'context_length_exceeded') {
      return [{ label: 'New chat', run: () => this.clear() }];
    }
    if (this.parts.engine.state.status === 'closed') {
      return [{ label: 'Load the model again', run: () => this.parts.reload() }];
    }
    const retry = () => {
      if (!this.running) void this.answer(view, agent, (options) => agent.resume(options));
    };
    return [
      { label: 'Try again', run: retry },
      { label: 'New chat', run: () => this.clear() },
    ];
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function formatSpeed(tokensPerSecond: number): string {
  return tokensPerSecond >= 20 ? tokensPerSecond.toFixed(0) : tokensPerSecond.toFixed(1);
}
