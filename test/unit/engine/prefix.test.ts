/** What a conversation's later requests read again: the embedded model, through the public interface. */
import { expect, it } from 'vitest';
import { conversations, Talk } from './conversations.ts';

it('conversations with tools and thinking reuse what they have read', async () => {
  const talk = await Talk.start();
  // One that calls a tool and gets its result, and one that begins like it; all ten: npm run bench -- prefix
  await talk.hold(conversations[0]!.slice(0, 1), { seed: 1 });
  await talk.hold(conversations[3]!.slice(0, 1), { seed: 2 });
  await talk.close();
  expect(talk.readings.length).toBeGreaterThanOrEqual(3);
  expect(talk.readings[0]).toMatchObject({ cached: 0, reusable: 0 });
  for (const { reusable, cached, prompt } of talk.readings.slice(1)) {
    expect(cached).toBeGreaterThanOrEqual(0.95 * reusable);
    // The tools stand at the beginning of every prompt, of other conversations too.
    expect(cached).toBeGreaterThan(prompt / 2);
  }
}, 240_000);
