/** Faults that only a browser has: of its GPU, of its workers, of its pages. The others are in `unit/engine`. */
import { expect, test } from './harness/fixture.ts';
import { RawBrowser } from './harness/raw-browser.ts';

const thought = '<think>\nLet me see.\n</think>\n\n';

test.describe('a GPU that breaks', () => {
  test.describe.configure({ timeout: 400_000 });
  /** A module as the page imports it. */
  const faults = '/test/browser/worker/faults.ts';

  test('while it loads: an error with a name', async ({ page }) => {
    const errors = await page.evaluate(async (faults) => {
      const { breakLoads } = (await import(faults)) as typeof import('./worker/faults.ts');
      return breakLoads();
    }, faults);
    expect(errors).toMatchObject({
      destroyed: { name: 'DeviceLostError' },
      'without adapter': { name: 'WebGPUUnavailableError' },
      'without shaders': {
        name: 'WebGPUUnavailableError',
        message: expect.stringContaining('failed to compute'),
      },
      'without memory': { name: 'ModelLoadError', code: 'session_failed' },
    });
  });

  test('while it answers: the same answer, or after three tries one error', async ({ page }) => {
    const seen = await page.evaluate(async (faults) => {
      const { breakAnswers } = (await import(faults)) as typeof import('./worker/faults.ts');
      return breakAnswers();
    }, faults);
    expect(seen.plain).not.toBe('');
    expect(seen).toMatchObject({
      plain: seen.plain,
      remade: seen.plain,
      recoveries: 1,
      givenUp: { name: 'DeviceLostError', code: 'gpu_out_of_memory' },
      states: ['recovering', 'ready', 'recovering', 'failed', 'closed'],
    });
  });
});

test('a worker that is ended from outside, in each state of a request', async ({ page, context }) => {
  // Files that never come.
  await context.route('**/slow-model/**', () => {});
  const seen = await page.evaluate(async (text) => {
    const { createScriptedEngine } = window.tokenprism;
    const workers: Worker[] = [];
    const worker = () => {
      const made = window.startWorker();
      workers.push(made);
      return made;
    };
    const messages = [{ role: 'user' as const, content: 'Hi' }];
    const ended: Record<string, string | null | undefined> = {};
    const isAlive = async () =>
      (await navigator.locks.query()).held?.some(({ name }) => name?.startsWith('tokenprism worker'));
    const loading = setInterval(async () => {
      if (!(await isAlive())) return;
      clearInterval(loading);
      setTimeout(() => workers[0]!.terminate(), 100);
    }, 50);
    ended.loading = await createScriptedEngine([text], { worker, model: '/slow-model/' }).then(
      () => 'loaded',
      (error) => error.code,
    );
    const engine = await createScriptedEngine([{ text, firstDelay: 30, delay: 10 }], { worker });
    const ask = (onState: (state: string) => void = () => {}) =>
      engine.chat.completions
        .create({ messages }, { onProgress: ({ state }) => onState(state) })
        .then(({ choices }) => choices[0]?.message.content);
    for (const at of ['queued', 'prefilling', 'decoding', 'ending']) {
      const before = at === 'queued' ? ask() : null;
      let isDue = true;
      ended[at] = await ask((state) => {
        if (isDue && state === at) workers.at(-1)!.terminate();
        isDue &&= state !== at;
      });
      if (before) ended.before = await before;
    }
    workers.at(-1)!.terminate();
    ended.idle = await ask();
    await engine.close();
    return ended;
  }, `${thought}Here.`);
  expect(seen).toEqual({
    loading: 'worker_ended',
    before: 'Here.',
    queued: 'Here.',
    prefilling: 'Here.',
    decoding: 'Here.',
    ending: 'Here.',
    idle: 'Here.',
  });
});

test('a page that is hidden and frozen goes on when it is woken', async ({ origin }) => {
  // Pages of Playwright's are always visible, and those are not frozen.
  const browser = await RawBrowser.start();
  try {
    const page = await browser.open(`${origin}/test/browser/harness/index.html`);
    await page.run(`(async () => {
      await window.tokenprismReady;
      document.addEventListener('freeze', () => { window.isFrozen = true; });
      const text = ${JSON.stringify(`${thought}One two three four five six.`)};
      const engine = await window.tokenprism.createScriptedEngine([{ text, delay: 60 }]);
      const messages = [{ role: 'user', content: 'Hi' }];
      const ask = async () => (await engine.chat.completions.create({ messages })).choices[0].message.content;
      const first = ask();
      window.outcome = async () => {
        const answers = [await first, await ask()];
        const { status, recoveries } = engine.state;
        return { answers, status, recoveries, isFrozen: window.isFrozen };
      };
    })()`);
    await page.send('Page.setWebLifecycleState', { state: 'frozen' });
    await new Promise((resolve) => setTimeout(resolve, 2000));
    await page.send('Page.setWebLifecycleState', { state: 'active' });
    const answer = 'One two three four five six.';
    expect(await page.run('window.outcome()')).toEqual({
      answers: [answer, answer],
      status: 'ready',
      recoveries: 0,
      isFrozen: true,
    });
  } finally {
    await browser.close();
  }
});
