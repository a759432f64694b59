/**
 * What a conversation's next request reads again, with the embedded model on WASM, through the public interface: ten
 * conversations with tools and thinking, sampled at temperature 1; then the fifth turn of a chat of some 1,500 tokens.
 */

import type { ChatCompletionMessageParam } from '../src/chat/types.ts';
import { createEngine } from '../src/engine/engine.ts';
import { conversations, type Reading, Talk } from '../test/unit/engine/conversations.ts';
import { liveWorker } from '../test/unit/engine/in-process-worker.ts';
import { median, numberOption, type Report, rounded } from './report.ts';

/** Options: `--conversations N` (default 10), `--rounds N` (default 3) of the chat. */
export async function run(options: readonly string[] = []): Promise<Report[]> {
  const talk = await Talk.start();
  const count = numberOption(options, '--conversations', conversations.length);
  for (const [seed, questions] of conversations.slice(0, count).entries())
    await talk.hold(questions, { seed });
  await talk.close();
  const sum = (of: (reading: Reading) => number) =>
    talk.readings.reduce((total, reading) => total + of(reading), 0);
  const reusable = sum((reading) => reading.reusable);
  const hit = sum((reading) => Math.min(reading.cached, reading.reusable));
  const reuse: Report = {
    title: `${count} conversations with tools and thinking: tokens of ${talk.readings.length} prompts`,
    rows: [
      {
        'prompt tokens': sum((reading) => reading.prompt),
        cached: sum((reading) => reading.cached),
        reusable,
        'cached of the reusable': rounded(hit / reusable),
      },
    ],
    notes: [
      'reusable: the text is the beginning of what the request before it in the same conversation read and wrote. What is cached beyond it was read for another conversation.',
    ],
  };
  return [reuse, await fifthTurn(numberOption(options, '--rounds', 3))];
}

const filler = 'The train leaves at nine and stops in four towns before it comes to the sea. ';

/** Time to first token of the fifth turn, with and without what the turns before it left. */
async function fifthTurn(rounds: number): Promise<Report> {
  const engine = async () => createEngine({ worker: () => liveWorker() as unknown as Worker });
  const warm: number[] = [];
  const cold: number[] = [];
  let tokens = 0;
  let cached = 0;
  for (let round = 0; round < rounds; round++) {
    const chat = await engine();
    const messages: ChatCompletionMessageParam[] = [];
    const ask = async (asked: typeof chat) => {
      const answer = await asked.chat.completions.create({ messages, max_tokens: 8, include_details: true });
      return { answer, wait: answer.tokenprism!.timings.timeToFirstToken };
    };
    for (let turn = 0; turn < 4; turn++) {
      messages.push({ role: 'user', content: filler.repeat(10) + turn });
      const { answer } = await ask(chat);
      messages.push({ role: 'assistant', content: answer.choices[0]!.message.content });
    }
    messages.push({ role: 'user', content: 'What can you do?' });
    const last = await ask(chat);
    warm.push(last.wait);
    tokens = last.answer.usage!.prompt_tokens;
    cached = last.answer.usage!.prompt_tokens_details!.cached_tokens!;
    await chat.close();
    const fresh = await engine();
    cold.push((await ask(fresh)).wait);
    await fresh.close();
  }
  return {
    title: 'Time to first token of the fifth turn, in milliseconds, median of the rounds',
    rows: [
      {
        'prompt tokens': tokens,
        cached,
        'with the cache': rounded(median(warm)),
        'full prefill': rounded(median(cold)),
        ratio: rounded(median(warm.map((time, round) => time / cold[round]!))),
      },
    ],
    notes: ['On WASM, one thread.'],
  };
}
