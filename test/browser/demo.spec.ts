/** The demo page as a person uses it, on the embedded model (WASM: hundreds of tokens a second on any machine). */
import type { Page } from '@playwright/test';
import { expect, test } from './harness/fixture.ts';

test.use({ needsLibrary: false });

/** Opens the demo and gives what went wrong on the page so far. */
async function openDemo(page: Page, origin: string, query = '?device=wasm'): Promise<string[]> {
  const errors: string[] = [];
  page.on('console', (message) => {
    // The development server's client misses its socket, which tests switch off; it is no part of the demo.
    if (message.type() === 'error' && !/vite/.test(message.text() + message.location().url)) {
      errors.push(message.text());
    }
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(`${origin}/demo/index.html${query}`);
  return errors;
}

/** Waits for the model. What the page says of the load stands in the failure when it doesn't come. */
async function ready(page: Page): Promise<void> {
  const dock = page.locator('#loading:visible, #load-error:visible');
  await expect.poll(() => dock.allInnerTexts(), { timeout: 60_000 }).toEqual([]);
  await expect(page.getByRole('button', { name: 'What is 23 * 19?' })).toBeEnabled();
}

async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel('Your message').fill(question);
  await page.keyboard.press('Enter');
}

/** The newest answer, when it is complete. */
async function answer(page: Page) {
  const newest = page.getByRole('article', { name: 'Answer' }).last();
  await expect(newest).toHaveAttribute('aria-busy', 'false', { timeout: 60_000 });
  return newest;
}

/** What an answer consists of, top to bottom. */
const parts = (newest: Awaited<ReturnType<typeof answer>>) =>
  newest.evaluate((root) =>
    [...root.children].map((part) => part.querySelector('.tool-name')?.textContent ?? part.classList[0]),
  );

test('thinks, calls a tool and answers', async ({ page, origin }) => {
  const errors = await openDemo(page, origin);
  await ready(page);
  // The answer is quick: what the first thinking panel went through is written down as it happens.
  await page.evaluate(() => {
    const states: string[] = [];
    Object.assign(window, { states });
    new MutationObserver(() => {
      const toggle = document.querySelector('.thinking-toggle');
      const state = `${toggle?.getAttribute('aria-expanded')} ${toggle?.textContent?.split(' ')[0]}`;
      if (toggle && states.at(-1) !== state) states.push(state);
    }).observe(document.getElementById('transcript')!, { subtree: true, childList: true, attributes: true });
  });
  await ask(page, "What's the weather in Paris in celsius?");
  const newest = await answer(page);
  expect(await page.evaluate(() => (window as unknown as { states: string[] }).states)).toEqual([
    'true Thinking…',
    'false Thought',
  ]);

  const toggle = newest.getByRole('button', { name: /^Thought for \d+\.\d s$/ }).first();
  const thought = newest.locator('.thinking-body').first();
  await expect(thought).toBeHidden();
  await toggle.click();
  await expect(thought).toContainText('Paris');
  await toggle.click();
  await expect(thought).toBeHidden();

  const card = newest.getByRole('region', { name: 'Tool call: get_weather' });
  await expect(card).toContainText('Done');
  await expect(card.getByLabel('Arguments')).toHaveText('{ "location": "Paris", "unit": "celsius" }');
  await expect(card.getByLabel('Result')).toContainText('"temperature": 18');
  await expect(card).toContainText('not live weather');
  await expect(newest.locator('.message-text')).toContainText('18');
  expect(await parts(newest)).toEqual(['thinking', 'get_weather', 'thinking', 'message-text']);
  await expect(page.locator('#speed')).toHaveText(/^\d+(\.\d)? tokens\/s$/);

  await page.getByRole('button', { name: 'WASM' }).click();
  await expect(page.locator('#device-details')).toContainText('tokenprism-tiny');
  expect(errors).toEqual([]);
});

test('keeps rounds in the order in which they happened, and the notes for the next question', async ({
  page,
  origin,
}) => {
  const errors = await openDemo(page, origin);
  await ready(page);
  await page.getByRole('button', { name: 'Look up the weather in Berlin and save it as a note' }).click();
  expect(await parts(await answer(page))).toEqual([
    'thinking',
    'get_weather',
    'thinking',
    'add_note',
    'thinking',
    'message-text',
  ]);
  await page.getByRole('button', { name: 'New chat' }).click();
  await expect(page.getByRole('article')).toHaveCount(0);
  await ask(page, 'Search my notes for Berlin');
  const found = (await answer(page)).getByRole('region', { name: 'Tool call: search_notes' });
  await expect(found.getByLabel('Result')).toContainText('Berlin');
  expect(errors).toEqual([]);
});

test('answers without thinking when it is switched off', async ({ page, origin }) => {
  const errors = await openDemo(page, origin);
  await ready(page);
  await page.getByText('Thinking', { exact: true }).click();
  await ask(page, 'What is 23 * 19?');
  const newest = await answer(page);
  expect(await parts(newest)).toEqual(['calculator', 'message-text']);
  await expect(newest.locator('.message-text')).toHaveText('23 * 19 = 437');
  expect(errors).toEqual([]);
});

test('stops, and answers the next question', async ({ page, origin }) => {
  const errors = await openDemo(page, origin);
  await ready(page);
  await page.evaluate(() => {
    new MutationObserver((_, observer) => {
      if (!document.querySelector('.thinking-body')?.textContent) return;
      observer.disconnect();
      document.getElementById('stop')!.click();
    }).observe(document.getElementById('transcript')!, {
      subtree: true,
      childList: true,
      characterData: true,
    });
  });
  await ask(page, "What's the weather in Paris and Tokyo?");
  const stopped = await answer(page);
  await expect(stopped).toContainText('Stopped.');
  expect(await parts(stopped)).toEqual(['thinking', 'note']);
  await ask(page, 'What is 23 * 19?');
  await expect((await answer(page)).locator('.message-text')).toHaveText('23 * 19 = 437');
  expect(errors).toEqual([]);
});

test('names what is wrong with the address, and a way on', async ({ page, origin }) => {
  await openDemo(page, origin, '?device=abacus');
  await expect(page.getByRole('alert')).toContainText('There is no device "abacus"');
  await page.getByRole('link', { name: 'Start with the defaults' }).click();
  await expect(page).toHaveURL(`${origin}/demo/index.html`);
});

test('shows what it is given as text, however it is cut', async ({ page, origin }) => {
  const shown = await page.evaluate(async (module) => {
    const { MessageText } = (await import(module)) as typeof import('../../demo/view/message-text.ts');
    const source =
      'Some <b>bold</b> & `code`:\n\n\n```js\nlet a = "<img src=x onerror=alert(1)>";\n\n  a();\n```\nThen\n- one\n- two\n\n``not a fence\n```';
    const render = (pieces: string[]) => {
      const message = new MessageText();
      for (const piece of pieces) message.append(piece);
      message.finish();
      return message.root;
    };
    const whole = render([source]);
    const cuts = [render([...source])];
    for (let at = 1; at < source.length; at++) cuts.push(render([source.slice(0, at), source.slice(at)]));
    return {
      blocks: [...whole.children].map((block) => `${block.tagName} ${block.textContent}`),
      tags: [...new Set([...whole.querySelectorAll('*')].map((node) => node.tagName))],
      different: cuts.filter((cut) => cut.innerHTML !== whole.innerHTML).length,
    };
  }, `${origin}/demo/view/message-text.ts`);
  expect(shown).toEqual({
    blocks: [
      'P Some <b>bold</b> & `code`:',
      'PRE let a = "<img src=x onerror=alert(1)>";\n\n  a();',
      'P Then\n- one\n- two',
      'P ``not a fence',
    ],
    tags: ['P', 'PRE', 'CODE'],
    different: 0,
  });
});
