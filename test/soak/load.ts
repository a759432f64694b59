/**
 * Mixed load on one engine of one tab: chats, tools, grammars, aborts, readers that leave, and faults, drawn at random.
 * Runs on the page.
 */
import type { ChatCompletionMessageParam } from '../../src/chat/types.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { RequestAbortedError, TokenprismError } from '../../src/errors.ts';
import type { GpuFault } from '../browser/worker/faulty-worker.ts';
import { randomNumbers } from '../unit/grammar/walk.ts';

export interface LoadOptions {
  device: 'wasm' | 'webgpu';
  seed: number;
  /** Milliseconds of load. */
  duration: number;
  /** Requests at once. */
  lanes: number;
  /** Milliseconds between two faults, on average. */
  faultEvery: number;
}

export interface LoadReport {
  requests: number;
  /** How requests ended: `done`, `left` by their reader, or the name of an error. */
  ends: Record<string, number>;
  faults: Record<string, number>;
  recoveries: number;
  /** What must not be, in words. */
  wrong: string[];
  /** Requests that neither ended nor failed in good time behind the last fault. */
  unsettled: number;
  /** Bytes of the page's heap behind a collection: when all had run once, and at the end. */
  heap: { start: number; end: number };
}

/** After so long without a new load a request counts as one that never ends, in milliseconds. */
const patience = 120_000;

type Task = (lane: Lane) => Promise<string>;

interface Lane {
  engine: Engine;
  random: () => number;
  pick<Item>(items: readonly Item[]): Item;
}

const questions = ['What is 23 * 19?', 'Hello!', "What's the weather in Paris in celsius?", 'Who are you?'];

const ask = (question: string): ChatCompletionMessageParam[] => [{ role: 'user', content: question }];

const calculator = {
  type: 'function' as const,
  function: {
    name: 'calculator',
    description: 'Calculates',
    parameters: {
      type: 'object',
      properties: { expression: { type: 'string' } },
      required: ['expression'],
      additionalProperties: false,
    },
  },
};

const schema = {
  type: 'object',
  properties: { city: { enum: ['Rome', 'Oslo'] }, degrees: { type: 'integer', minimum: -50, maximum: 60 } },
  required: ['city', 'degrees'],
  additionalProperties: false,
};

class Wrong extends Error {}

const tasks: Record<string, Task> = {
  async 'a whole answer'({ engine, pick }) {
    const { choices, usage } = await engine.chat.completions.create({
      messages: ask(pick(questions)),
      max_tokens: 40,
    });
    if (!usage || usage.completion_tokens < 1 || choices.length !== 1) throw new Wrong('an answer is empty');
    return 'done';
  },

  async 'a stream'({ engine, pick, random }) {
    const stream = await engine.chat.completions.create({
      messages: ask(pick(questions)),
      max_tokens: 60,
      stream: true,
    });
    const isSlow = random() < 0.3;
    const leavesAt = random() < 0.3 ? Math.floor(random() * 20) : Number.POSITIVE_INFINITY;
    let finish: string | null = null;
    let chunks = 0;
    for await (const { choices } of stream) {
      finish = choices[0]?.finish_reason ?? finish;
      if (chunks++ >= leavesAt) return 'left';
      if (isSlow && chunks < 20) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    if (finish === null) throw new Wrong('a stream ended without a reason');
    return 'done';
  },

  async 'an abort'({ engine, pick, random }) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), random() * 1500);
    await engine.chat.completions.create(
      { messages: ask(pick(questions)), max_tokens: 200, ignore_eos: true },
      { signal: controller.signal },
    );
    return 'done';
  },

  async 'the same seed twice'({ engine, pick }) {
    const body = { messages: ask(pick(questions)), seed: 7, temperature: 1, max_tokens: 25 };
    const texts: string[] = [];
    for (let time = 0; time < 2; time++) {
      const { choices } = await engine.chat.completions.create(body);
      texts.push(JSON.stringify(choices[0]?.message));
    }
    if (texts[0] !== texts[1]) throw new Wrong(`one seed gave ${texts[0]} and ${texts[1]}`);
    return 'done';
  },

  async 'JSON by a schema'({ engine, pick }) {
    const { choices } = await engine.chat.completions.create({
      messages: ask(pick(questions)),
      temperature: 1.5,
      chat_template_kwargs: { enable_thinking: false },
      response_format: { type: 'json_schema', json_schema: { name: 'report', schema } },
    });
    const { city, degrees } = JSON.parse(choices[0]?.message.content ?? '') as Record<string, unknown>;
    if (!['Rome', 'Oslo'].includes(city as string) || !Number.isInteger(degrees))
      throw new Wrong('JSON is not what its schema says');
    return 'done';
  },

  async 'a call that is required'({ engine, pick }) {
    const { choices } = await engine.chat.completions.create({
      messages: ask(pick(questions)),
      temperature: 1.5,
      max_tokens: 150,
      thinking_token_budget: 10,
      tools: [calculator],
      tool_choice: 'required',
    });
    const [choice] = choices;
    if (choice?.finish_reason === 'length') return 'done';
    const call = choice?.message.tool_calls?.[0];
    if (call?.type !== 'function' || typeof JSON.parse(call.function.arguments).expression !== 'string')
      throw new Wrong('a call is none of its tool');
    return 'done';
  },

  async 'two choices'({ engine, pick }) {
    const { choices } = await engine.chat.completions.create({
      messages: ask(pick(questions)),
      n: 2,
      logprobs: true,
      max_tokens: 15,
    });
    const told = choices.map(({ logprobs }) => logprobs?.content?.length ?? 0);
    if (choices.length !== 2 || told.some((count) => count === 0))
      throw new Wrong('a choice is missing or tells nothing');
    return 'done';
  },

  async 'a bad request'({ engine }) {
    await engine.chat.completions.create({ messages: ask('x'), temperature: 7 });
    throw new Wrong('a temperature of 7 was taken');
  },
};

/** Loads an engine, and works until the time is over. */
export async function runLoad(options: LoadOptions): Promise<LoadReport> {
  const { createEngine } = window.tokenprism;
  const random = randomNumbers(options.seed);
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)]!;
  const workers: Worker[] = [];
  const engine = await createEngine({
    device: options.device,
    worker: () => {
      const url = new URL('../browser/worker/faulty-worker.ts', import.meta.url);
      const worker = new Worker(url, { type: 'module', name: 'good' });
      workers.push(worker);
      return worker;
    },
  });
  const report: LoadReport = {
    requests: 0,
    ends: {},
    faults: {},
    recoveries: 0,
    wrong: [],
    unsettled: 0,
    heap: { start: 0, end: 0 },
  };
  const count = (of: Record<string, number>, name: string) => {
    of[name] = (of[name] ?? 0) + 1;
  };
  const lane: Lane = { engine, random, pick };
  const runTask = async (name: string) => {
    report.requests++;
    try {
      count(report.ends, await tasks[name]!(lane));
    } catch (error) {
      if (error instanceof Wrong) report.wrong.push(`${name}: ${error.message}`);
      else if (error instanceof TokenprismError) {
        count(report.ends, error.name);
        const isMeant =
          (name === 'an abort' && error instanceof RequestAbortedError) ||
          (name === 'a bad request' && error.name === 'BadRequestError') ||
          error.name === 'DeviceLostError' ||
          error.name === 'WorkerError';
        if (!isMeant) report.wrong.push(`${name}: ${error.name}: ${error.message}`);
      } else report.wrong.push(`${name}: ${error}`);
    }
  };
  const names = Object.keys(tasks);
  for (const name of names) await runTask(name);
  report.heap.start = heapSize();

  const end = performance.now() + options.duration;
  const isOver = () => performance.now() >= end;
  let open = 0;
  const work = async () => {
    while (!isOver()) {
      open++;
      await runTask(pick(names));
      open--;
    }
  };
  const gpuFaults = new BroadcastChannel('gpu faults');
  const strike = async () => {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, options.faultEvery * (0.5 + random())));
      if (isOver()) return;
      const fault =
        options.device === 'wasm' ? 'ended' : pick(['ended', 'destroyed', 'broken shader'] as const);
      count(report.faults, fault);
      if (fault === 'ended') workers.at(-1)!.terminate();
      else gpuFaults.postMessage(fault satisfies GpuFault);
    }
  };
  const all = Promise.all([...Array.from({ length: options.lanes }, work), strike()]);
  const late = new Promise((resolve) => setTimeout(resolve, options.duration + patience));
  await Promise.race([all, late]);
  report.unsettled = open;
  // The last fault may have come behind the last request: the next one must work.
  if (open === 0) await runTask('a whole answer');
  report.recoveries = engine.state.recoveries;
  await engine.close();
  gpuFaults.close();
  report.heap.end = heapSize();
  return report;
}

function heapSize(): number {
  window.gc();
  return (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize;
}
