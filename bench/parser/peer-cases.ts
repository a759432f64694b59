/** The conformance cases through what people use in JavaScript today. */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { Vocabulary } from '../../src/detokenizer/vocabulary.ts';
import { type Case, type Expected, type ExpectedCall, readCases } from '../../test/conformance/case.ts';
import { isRight, replayOnce, tokenize } from '../../test/conformance/replay.ts';
import type { Peer, PeerOptions, StreamPart } from '../peers/pipelines.mjs';
import type { Report } from '../report.ts';

/** Milliseconds after which an output is taken to be one that never ends. */
const PATIENCE = 2000;

type Outcome = 'right' | 'wrong' | 'hangs';

/** How many of the conformance cases each splits right. */
export async function comparedCases(peers: readonly Peer[]): Promise<Report> {
  // Where calls have to be read, what reads none has no part.
  const groups: [string, boolean, (test: Case) => boolean][] = [
    [
      '`<think>` blocks without calls',
      false,
      (test) => hasThinkTags(test) && test.expected.tool_calls.length === 0,
    ],
    [
      'Hermes calls',
      true,
      ({ tool_parser, expected }) => tool_parser === 'hermes' && expected.tool_calls.length > 0,
    ],
    ['all families', true, () => true],
  ];
  const outcomes: { test: Case; own: Outcome; others: Outcome[] }[] = [];
  const threads = peers.map((_, index) => new PeerThread(index));
  for (const test of comparableCases()) {
    const own = isRight(lenient(test), await replayOnce(test)) ? 'right' : 'wrong';
    const others: Outcome[] = [];
    for (const thread of threads) others.push(await thread.split(test));
    outcomes.push({ test, own, others });
  }
  for (const thread of threads) await thread.close();
  const rows = groups.map(([name, hasCalls, belongs]) => {
    const group = outcomes.filter(({ test }) => belongs(test));
    const count = (outcomesOf: (entry: (typeof outcomes)[number]) => Outcome | undefined) => {
      const hangs = group.filter((entry) => outcomesOf(entry) === 'hangs').length;
      const right = group.filter((entry) => outcomesOf(entry) === 'right').length;
      return hangs > 0 ? `${right} (${hangs} never end)` : right;
    };
    return {
      cases: name,
      number: group.length,
      Tokenprism: count(({ own }) => own),
      ...Object.fromEntries(
        peers.map(({ name: peer, readsCalls }, index) => [
          peer,
          hasCalls && !readsCalls ? '' : count(({ others }) => others[index]),
        ]),
      ),
    };
  });
  return {
    title: 'Conformance cases that are split right: reasoning, content, calls and their arguments',
    rows,
    notes: [
      'Outputs that ended by themselves, without stop strings and without a call that was cut; blanks at the ends of texts do not count. A marker is one piece, of everything else each character is one. The cases are those that Tokenprism is developed with.',
    ],
  };
}

function comparableCases(): Case[] {
  const folder = new URL('../../test/conformance/cases/', import.meta.url);
  const cases = readdirSync(folder)
    .sort()
    .flatMap((file) => readCases(readFileSync(new URL(file, folder), 'utf8')));
  return cases.filter(({ finish, request, expected }) => {
    const {
      stop,
      tool_choice: choice = 'auto',
      parallel_tool_calls: parallel,
      include_reasoning: shown,
    } = request ?? {};
    const isCut = finish !== 'stop' || (expected.incomplete_tool_calls?.length ?? 0) > 0;
    return !isCut && !stop && choice === 'auto' && parallel !== false && shown !== false;
  });
}

const hasThinkTags = ({ output, reasoning_parser }: Case) =>
  reasoning_parser !== null && output.includes('</think>');

/** Blanks at the ends of texts are nobody's mistake here. */
const lenient = (test: Case): Case => ({
  ...test,
  compare: test.compare === 'exact' ? 'trim' : test.compare,
});

/** One of the others, in a thread that is replaced when an output keeps it forever. */
class PeerThread {
  readonly #peer: number;
  #worker: Worker | null = null;

  constructor(peer: number) {
    this.#peer = peer;
  }

  async split(test: Case): Promise<Outcome> {
    this.#worker ??= await startWorker();
    const pieces = await piecesOf(test);
    this.#worker.postMessage({ peer: this.#peer, options: optionsOf(test), pieces });
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), PATIENCE);
    });
    const answer = await Promise.race([once(this.#worker, 'message'), timeout]);
    clearTimeout(timer);
    if (!answer) {
      await this.close();
      return 'hangs';
    }
    const { parts } = answer[0] as { parts?: StreamPart[] };
    if (!parts) return 'wrong';
    const { finish_reason } = test.expected;
    return isRight(lenient(test), { ...answerOf(parts), finish_reason }) ? 'right' : 'wrong';
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
    this.#worker = null;
  }
}

async function startWorker(): Promise<Worker> {
  const worker = new Worker(new URL('../peers/worker.mjs', import.meta.url));
  await once(worker, 'message');
  return worker;
}

/** The output as a streamer of text gives it: a piece a token. */
async function piecesOf(test: Case): Promise<string[]> {
  const { ids, table } = await tokenize(test);
  const detokenizer = new Vocabulary(table).createDetokenizer();
  return ids.map((id) => detokenizer.push(id)).filter((text) => text !== '');
}

function optionsOf({ output, prompt_tail, tools }: Case): PeerOptions {
  const tail = prompt_tail ?? '';
  const closer = output.indexOf('</think>');
  const isOpen = tail.lastIndexOf('<think>') > tail.lastIndexOf('</think>');
  const isImplicit = closer >= 0 && !output.slice(0, closer).includes('<think>');
  return {
    tools: (tools ?? []).map((tool) => (tool as { function: PeerOptions['tools'][number] }).function),
    startsInReasoning: isOpen || isImplicit,
  };
}

function answerOf(parts: readonly StreamPart[]): Omit<Expected, 'finish_reason'> {
  const textOf = (type: string) =>
    parts.flatMap((part) => (part.type === type ? [part.delta ?? ''] : [])).join('') || null;
  const calls = parts.filter(({ type }) => type === 'tool-call');
  return {
    reasoning: textOf('reasoning-delta'),
    content: textOf('text-delta'),
    tool_calls: calls.map(
      ({ toolName = '', input = '{}' }): ExpectedCall => ({
        name: toolName,
        arguments: JSON.parse(input) as unknown,
      }),
    ),
  };
}
