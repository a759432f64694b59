import { computed, signal } from '@preact/signals';
import type { Engine } from '../../../src/index.ts';
import { announce } from '../../components/announcer.tsx';
import { LiveAnswer } from '../../conversation/answer.ts';
import { addExchange, type Exchange, historyOf, newConversation } from '../../conversation/conversation.ts';
import { runAnswer } from '../../conversation/run-answer.ts';
import { type DemoTool, ToolError } from '../../tools/tool.ts';

/** What one step may generate. */
const maximumTokens = 512;

export interface AgentOptions {
  thinking: boolean;
  /** The most answers of the model in a run. */
  maxSteps: number;
  tools(question: string): DemoTool[];
}

/** The tasks of the agent page, one at a time, and the questions whether a tool may run. */
export class AgentStore {
  /** In the order in which they were given. */
  readonly tasks = signal<{ exchange: Exchange; answer: LiveAnswer }[]>([]);
  readonly running = computed(() => this.#run.value !== null);
  readonly #run = signal<AbortController | null>(null);
  #conversation = newConversation();
  /** By the call's id. */
  readonly #asked = new Map<string, (allowed: boolean) => void>();

  give(engine: Engine, task: string, options: AgentOptions): Promise<void> {
    const exchange = addExchange(this.#conversation, this.#conversation.leaf, task);
    const answer = new LiveAnswer(exchange.answer);
    this.tasks.value = [...this.tasks.value, { exchange, answer }];
    return this.#write(engine, exchange, answer, options);
  }

  /** Goes on with the last task, which was stopped, failed, or ran out of steps or tokens. */
  resume(engine: Engine, options: AgentOptions): Promise<void> {
    const last = this.tasks.value.at(-1);
    return last ? this.#write(engine, last.exchange, last.answer, options) : Promise.resolve();
  }

  stop(): void {
    this.#run.peek()?.abort();
  }

  clear(): void {
    this.stop();
    this.#conversation = newConversation();
    this.tasks.value = [];
  }

  decide(id: string, allowed: boolean): void {
    this.#asked.get(id)?.(allowed);
  }

  async #write(engine: Engine, exchange: Exchange, answer: LiveAnswer, options: AgentOptions): Promise<void> {
    if (this.#run.peek()) return;
    const abort = new AbortController();
    this.#run.value = abort;
    await runAnswer(answer, {
      engine,
      history: historyOf(this.#conversation, exchange),
      tools: options.tools(exchange.question).map((tool) => (tool.asks ? this.#asking(tool, answer) : tool)),
      params: {
        max_tokens: maximumTokens,
        chat_template_kwargs: { enable_thinking: options.thinking },
      },
      maxRounds: options.maxSteps,
      signal: abort.signal,
    });
    this.#run.value = null;
    announce(exchange.answer.end === 'stopped' ? 'Stopped.' : 'The task is done.');
  }

  /** The tool, which a person is asked about before each call. */
  #asking(tool: DemoTool, answer: LiveAnswer): DemoTool {
    return {
      ...tool,
      run: async (args, context) => {
        const { id, signal } = context;
        answer.setAsking(id, true);
        announce(`May ${tool.name} run?`);
        const allowed = await new Promise<boolean>((resolve) => {
          this.#asked.set(id, resolve);
          signal.addEventListener('abort', () => resolve(false), { once: true });
        });
        this.#asked.delete(id);
        answer.setAsking(id, false);
        if (!allowed) throw new ToolError('the user did not allow this call');
        return tool.run(args, context);
      },
    };
  }
}
