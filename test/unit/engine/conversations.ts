import { readFileSync } from 'node:fs';
import type {
  ChatCompletionMessageParam,
  ChatCompletionTool,
  RequestDetails,
} from '../../../src/chat/types.ts';
import { createEngine, type Engine } from '../../../src/engine/engine.ts';
import type { FromWorker, Timings, TokenTable } from '../../../src/protocol.ts';
import type { Drafts } from '../../../worker/drafts/drafts.ts';
import { tinyFolder } from '../worker/models.ts';
import { scriptedModel } from '../worker/scripted.ts';
import { liveWorker } from './in-process-worker.ts';

/** What a request had to read, and what of it had been read before. */
export interface Reading {
  prompt: number;
  cached: number;
  /** Tokens of the prompt whose text is the beginning of what the request before it read and wrote. */
  reusable: number;
  promptIds: number[];
  /** Ids of the answer. */
  written: number[];
  timings: Timings;
  /** Milliseconds of processor time of this process from the end of the prefill to the end of the answer. */
  decodeCpu: number;
}

export interface TalkOptions {
  /** Default: the engine's own. */
  drafts?: Drafts | null;
  /** Whether calls are held to a grammar. Default `auto`, which the demonstration tools do not ask for. */
  toolStrictness?: 'auto' | 'parameter';
}

const weather: Record<string, [number, string]> = {
  Paris: [18, 'cloudy'],
  Tokyo: [24, 'sunny'],
  Berlin: [11, 'rainy'],
};

/** How questions are asked. */
export interface Asking {
  seed: number;
  /** Default 1. */
  temperature?: number;
  /** Default 20. */
  topK?: number;
  /** Default 160. */
  maxTokens?: number;
  /** Whether the tools are offered. Default `true`. */
  tools?: boolean;
}

/** The tools' results. */
function call(name: string, args: Record<string, unknown>): unknown {
  if (name === 'get_weather') {
    const [temperature, condition] = weather[String(args.location)] ?? [15, 'windy'];
    return { location: args.location, temperature, unit: 'celsius', condition };
  }
  if (name === 'calculator') {
    const [left, operator, right] = String(args.expression).split(' ');
    const [a, b] = [Number(left), Number(right)];
    return { result: operator === '*' ? a * b : operator === '-' ? a - b : a + b };
  }
  return { error: `no result for ${name}` };
}

/** Ten conversations of three questions each, with and without tools. */
export const conversations: string[][] = [
  ["What's the weather in Paris in celsius?", 'And in Tokyo?', 'Thanks!'],
  ['What is 23 * 19?', 'What is 12 * 12?', 'What can you do?'],
  ["What's the weather in Paris and Tokyo?", 'What is 5 + 6?', 'Thank you!'],
  ['Hello!', "What's the weather in Berlin?", 'What is 8 * 7?'],
  ['What is the capital of France?', "What's the weather in Paris?", 'Thanks!'],
  ["What's the weather in Tokyo in fahrenheit?", 'Hello!', 'What is 100 - 58?'],
  ['What is 31 + 11?', "What's the weather in Paris in celsius?", 'Bye!'],
  ['What can you do?', 'What is 9 * 9?', "What's the weather in Tokyo?"],
  ["What's the weather in Berlin in celsius?", "What's the weather in Paris?", 'Thank you!'],
  ['Hi!', 'What is 17 * 3?', 'What is the capital of Japan?'],
];

/** The embedded model's demonstration tools. */
export const readTools = () =>
  JSON.parse(readFileSync(new URL('demo-tools.json', tinyFolder), 'utf8')) as ChatCompletionTool[];

/** Follows an engine's worker, and holds conversations with it. */
export class Talk {
  readonly readings: Reading[] = [];
  readonly #engine: Engine;
  readonly #tools = readTools();
  readonly #table: TokenTable = scriptedModel([{ text: '' }]).table;
  /** Ids of the request that runs or ran last. */
  #known: number[] = [];
  #written: number[] = [];
  #cpu = { user: 0, system: 0 };

  private constructor(engine: Engine, worker: EventTarget) {
    this.#engine = engine;
    worker.addEventListener('message', (event) => {
      const message = (event as MessageEvent<FromWorker>).data;
      if (message.type === 'tokens') this.#written.push(...message.ids);
      if (message.type === 'state' && message.state === 'decoding') this.#cpu = process.cpuUsage();
      if (message.type === 'done') this.#cpu = process.cpuUsage(this.#cpu);
    });
  }

  /** With the embedded model on WASM, in this process. */
  static async start({ drafts, toolStrictness = 'auto' }: TalkOptions = {}): Promise<Talk> {
    const worker = liveWorker(drafts);
    const engine = await createEngine({ worker: () => worker as unknown as Worker, toolStrictness });
    return new Talk(engine, worker);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  /** Asks one question after another, giving back reasoning and calls as they came. */
  async hold(questions: readonly string[], asking: Asking): Promise<void> {
    const messages: ChatCompletionMessageParam[] = [];
    this.#known = [];
    for (const content of questions) {
      messages.push({ role: 'user', content });
      for (let step = 0; step < 4; step++) {
        const message = await this.#ask(messages, asking);
        messages.push(message as ChatCompletionMessageParam);
        if (!message.tool_calls) break;
        for (const { id, function: made } of message.tool_calls) {
          const result = call(made.name, JSON.parse(made.arguments) as Record<string, unknown>);
          messages.push({ role: 'tool', tool_call_id: id, content: JSON.stringify(result) });
        }
      }
    }
  }

  async #ask(
    messages: ChatCompletionMessageParam[],
    { seed, temperature = 1, topK = 20, maxTokens = 160, tools = true }: Asking,
  ) {
    this.#written = [];
    const answer = await this.#engine.chat.completions.create({
      messages: [...messages],
      ...(tools && { tools: this.#tools }),
      temperature,
      top_k: topK,
      seed,
      max_tokens: maxTokens,
      include_details: true,
    });
    const { prompt_token_ids: prompt } = answer.tokenprism as RequestDetails;
    this.readings.push({
      prompt: prompt.length,
      cached: answer.usage?.prompt_tokens_details?.cached_tokens ?? 0,
      reusable: this.#reusable(prompt),
      promptIds: [...prompt],
      written: this.#written,
      timings: answer.tokenprism!.timings,
      decodeCpu: (this.#cpu.user + this.#cpu.system) / 1000,
    });
    // The last token of an answer was never fed.
    this.#known = [...prompt, ...this.#written.slice(0, -1)];
    return answer.choices[0]!.message;
  }

  #reusable(prompt: readonly number[]): number {
    const known = this.#bytes(this.#known);
    let [tokens, at] = [0, 0];
    for (const id of prompt.slice(0, -1)) {
      const bytes = this.#bytes([id]);
      if (!bytes.every((byte, index) => known[at + index] === byte)) break;
      at += bytes.length;
      tokens++;
    }
    return tokens;
  }

  #bytes(ids: readonly number[]): number[] {
    const { bytes, offsets } = this.#table;
    return ids.flatMap((id) => [...bytes.subarray(offsets[id]!, offsets[id + 1]!)]);
  }
}
