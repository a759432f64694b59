/**
 * The half of `npm run ask` that runs in the browser: the engine, the demo's agent loop and tools. What happens
 * goes out through `window.report`, the whole run comes back from `window.ask`.
 */
import { createDemoTools } from '../../demo/tools/index.ts';
import { createMemoryNotes } from '../../demo/tools/notes.ts';
import { TimerList } from '../../demo/tools/timer.ts';
import {
  type ChatCompletion,
  type ChatCompletionMessageParam,
  createEngine,
  type DeviceReport,
  type Engine,
  type EngineProgress,
  type RequestProgress,
  runTools,
  type Timings,
  TokenprismError,
  type ToolRunEvent,
} from '../../src/index.ts';
import { type ClientName, throughClient } from './clients.ts';

/** More than any sensible question needs; a model that calls in circles stops here. */
const maximumRounds = 6;

/** What one round may generate, unless the command line says. Small models can fall into repeating themselves. */
const maximumTokens = 512;

export interface Question {
  question: string;
  /** A Hub repository or a folder's URL; `null`: the embedded model. */
  model: string | null;
  device: 'webgpu' | 'wasm';
  /** `null`: the engine itself is asked. */
  client: ClientName | null;
  thinking: boolean;
  toolChoice: ChatCompletionToolChoice | null;
  maxTokens: number | null;
  seed: number | null;
}

type ChatCompletionToolChoice = NonNullable<
  Parameters<Engine['chat']['completions']['create']>[0]['tool_choice']
>;

export type AskReport =
  | { type: 'load'; progress: EngineProgress }
  | { type: 'loaded'; model: string; device: DeviceReport }
  | { type: 'prompt'; progress: RequestProgress }
  | ToolRunEvent;

/** What `--json` prints. */
export interface AskRun {
  model: string;
  device: string;
  /** Every message of the run, as the API has them. */
  messages: (ChatCompletionMessageParam | ChatCompletion['choices'][number]['message'])[];
  /** The rendered chat template of each round. */
  prompts: string[];
  /** Of the last round. */
  choices: ChatCompletion['choices'];
  /** Summed over the rounds. */
  usage: {
    prompt_tokens: number;
    completion_tokens: number;
    total_tokens: number;
    prompt_tokens_details: { cached_tokens: number };
    completion_tokens_details: { reasoning_tokens: number };
  };
  /** Milliseconds; one entry a round. */
  timings: { load: number; rounds: Timings[]; total: number };
}

/** An error crosses to the terminal as a value: thrown, it would arrive with the page's stack in its message. */
export type AskResult = { run: AskRun } | { error: string };

declare global {
  interface Window {
    ask: (question: Question) => Promise<AskResult>;
    report: (report: AskReport) => Promise<void>;
  }
}

window.ask = async (question) => {
  try {
    return { run: await run(question) };
  } catch (error) {
    if (!(error instanceof TokenprismError)) console.error(error);
    return { error: error instanceof Error ? error.message : String(error) };
  }
};

async function run(question: Question): Promise<AskRun> {
  const started = performance.now();
  const engine = await createEngine({
    ...(question.model !== null && { model: question.model }),
    device: question.device,
    onProgress: (progress) => void window.report({ type: 'load', progress }),
  });
  try {
    const load = performance.now() - started;
    const { model, device } = engine.state;
    await window.report({ type: 'loaded', model: model.id, device });
    const rounds: ChatCompletion[] = [];
    const tools = createDemoTools({
      notes: createMemoryNotes(),
      timers: new TimerList(),
      question: question.question,
    });
    const answer = runTools(
      question.client === null ? engine : await throughClient(engine, question.client),
      {
        messages: [{ role: 'user', content: question.question }],
        tools,
        max_tokens: question.maxTokens ?? maximumTokens,
        chat_template_kwargs: { enable_thinking: question.thinking },
        include_details: true,
        ...(question.toolChoice !== null && { tool_choice: question.toolChoice }),
        ...(question.seed !== null && { seed: question.seed }),
      },
      {
        maxRounds: maximumRounds,
        onProgress: (progress) => void window.report({ type: 'prompt', progress }),
      },
    );
    for await (const event of answer) {
      await window.report(event);
      if (event.type === 'round-end') rounds.push(event.completion);
      if (event.type === 'end' && event.result.reason === 'rounds') {
        throw new Error(`The model still called tools in round ${maximumRounds}, the last one it was given.`);
      }
    }
    return {
      model: model.id,
      device: device.device,
      messages: wholeMessages(answer.messages, rounds),
      prompts: rounds.map((round) => round.tokenprism?.prompt ?? ''),
      choices: rounds.at(-1)?.choices ?? [],
      usage: summedUsage(rounds),
      timings: {
        load,
        rounds: rounds.flatMap((round) => round.tokenprism?.timings ?? []),
        total: performance.now() - started,
      },
    };
  } finally {
    await engine.close();
  }
}

/** The history with the assistant's messages as the API answered them, where a missing field is `null`. */
function wholeMessages(history: ChatCompletionMessageParam[], rounds: ChatCompletion[]): AskRun['messages'] {
  const answers = rounds.map((round) => round.choices[0]?.message);
  return history.map((message) => (message.role === 'assistant' && answers.shift()) || message);
}

function summedUsage(rounds: ChatCompletion[]): AskRun['usage'] {
  const sum = (count: (usage: NonNullable<ChatCompletion['usage']>) => number | undefined) =>
    rounds.reduce((total, { usage }) => total + ((usage && count(usage)) ?? 0), 0);
  return {
    prompt_tokens: sum((usage) => usage.prompt_tokens),
    completion_tokens: sum((usage) => usage.completion_tokens),
    total_tokens: sum((usage) => usage.total_tokens),
    prompt_tokens_details: { cached_tokens: sum((usage) => usage.prompt_tokens_details?.cached_tokens) },
    completion_tokens_details: {
      reasoning_tokens: sum((usage) => usage.completion_tokens_details?.reasoning_tokens),
    },
  };
}
