/** The chat page as a person uses it. */
import { readFileSync } from 'node:fs';
import { answer, ask, expect, expectAccessible, parts, tabTo, test } from './demo/site.ts';

test('the embedded model thinks, calls tools and answers', async ({ page, demo }) => {
  await demo.open();
  // The answer is quick: what the first thinking panel went through is written down as it happens.
  await page.evaluate(() => {
    const states: string[] = [];
    Object.assign(window, { states });
    new MutationObserver(() => {
      const toggle = document.querySelector('.thinking-toggle');
      const label = toggle?.querySelector('.thinking-label')?.textContent?.split(' ')[0];
      const state = `${toggle?.getAttribute('aria-expanded')} ${label}`;
      if (toggle && states.at(-1) !== state) states.push(state);
    }).observe(document.querySelector('.transcript')!, { subtree: true, childList: true, attributes: true });
  });
  await ask(page, "What's the weather in Paris in celsius?");
  const newest = await answer(page);
  expect(await page.evaluate(() => (window as unknown as { states: string[] }).states)).toEqual([
    'true Thinking…',
    'false Thought',
  ]);
  expect(await parts(newest)).toEqual(['thinking', 'get_weather', 'thinking', 'markdown']);

  const toggle = newest.getByRole('button', { name: /^Thought for \d+\.\d s/ }).first();
  const thought = newest.locator('.thinking-body').first();
  await expect(toggle).toContainText('get_weather');
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
  await expect(newest.locator('.markdown')).toContainText('18');
  await expect(newest.locator('.figures')).toHaveText(/^\d+ tokens · \d+(\.\d)? tokens\/s$/);
  await expectAccessible(page);

  await ask(page, 'Set a timer for 5 seconds');
  await expect((await answer(page)).getByRole('region', { name: 'set_timer' })).toContainText('not seconds');
  await ask(page, 'Set a timer for 10 minutes');
  await answer(page);
  await expect(page.getByRole('list', { name: 'Timers' })).toContainText('10 minutes');
  await page.getByRole('complementary').getByRole('button', { name: 'New chat' }).click();
  await expect(page.getByRole('article')).toHaveCount(0);
  await expect(page.getByRole('list', { name: 'Timers' })).toHaveCount(0);
});

const hostile = [
  'Look: **bold**, <img src=x onerror="document.title=1"> and [a link](javascript:document.title=1).',
  '',
  '```js',
  'const answer = "<script>";',
  '```',
  '',
  '| city | degrees |',
  '|---|--:|',
  '| Rome | 18 |',
  '',
  '![pixel](https://example.org/pixel.png)',
].join('\n');

test('Markdown is shown as it streams, block by block, and does nothing else', async ({
  page,
  demo,
}, info) => {
  await demo.open({ turns: [{ reasoning: 'Easy.', content: hostile, delay: 4 }] });
  await page.evaluate(() => {
    const tasks: number[] = [];
    Object.assign(window, { tasks });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) tasks.push(duration);
    }).observe({ type: 'longtask' });
    // The first block, as it was when the second one began.
    new MutationObserver((_, observer) => {
      const blocks = document.querySelectorAll('.markdown-block');
      if (blocks.length < 2) return;
      Object.assign(window, { firstBlock: blocks[0] });
      observer.disconnect();
    }).observe(document.body, { subtree: true, childList: true });
  });
  await ask(page, 'Show me.');
  const text = (await answer(page)).locator('.markdown');
  expect(
    await page.evaluate(
      () =>
        (window as unknown as { firstBlock: Element }).firstBlock ===
        document.querySelector('.markdown-block'),
    ),
    'a block that is whole is left as it is',
  ).toBe(true);
  // Measured, and told: how long a task takes is the machine's affair as well.
  const tasks = await page.evaluate(() => (window as unknown as { tasks: number[] }).tasks);
  info.annotations.push({
    type: 'tasks over 50 ms while streaming',
    description: tasks.join(', ') || 'none',
  });
  await expect(text.locator('strong')).toHaveText('bold');
  await expect(text.locator('p').first()).toContainText('<img src=x');
  await expect(text.locator('img, script')).toHaveCount(0);
  await expect(text.getByText('a link')).not.toHaveAttribute('href');
  await expect(text.locator('pre .hljs-keyword')).toHaveText('const');
  await expect(text.locator('td').last()).toHaveText('18');
  await expect(text.getByRole('link', { name: 'pixel' })).toHaveAttribute('rel', /noopener/);

  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await text.getByRole('button', { name: 'Copy' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('const answer = "<script>";');
  await page.getByRole('button', { name: 'Copy the answer' }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(hostile);
  await expectAccessible(page);
});

test('an answer is stopped and gone on with; questions are edited; conversations are kept', async ({
  page,
  demo,
}, info) => {
  await demo.open({
    turns: [
      { reasoning: 'Counting.', content: 'One two three four five six seven eight nine ten.', delay: 40 },
      { text: ' and so on.' },
      { content: 'Again.' },
      { content: 'Edited.' },
    ],
  });
  await ask(page, 'Count, please');
  await expect(page.locator('.markdown')).toContainText('two');
  await page.keyboard.press('Escape');
  const stopped = await answer(page);
  await expect(stopped).toContainText('Stopped.');
  await expect(stopped.locator('.figures')).toHaveCount(0);
  const before = (await stopped.locator('.markdown').textContent())!.trim();
  expect('One two three four five six seven eight nine ten.').toContain(before);
  await stopped.getByRole('button', { name: 'Continue' }).click();
  await expect(stopped.locator('.markdown')).toHaveText(`${before} and so on.`);
  expect(await parts(await answer(page))).toEqual(['thinking', 'markdown']);

  await page.getByRole('button', { name: 'Answer again' }).click();
  await expect(await answer(page)).toContainText('Again.');
  await page.getByRole('button', { name: 'Edit the question' }).click();
  await page.getByLabel('Edit the question').fill('Count backwards');
  await page.keyboard.press('Enter');
  await expect(await answer(page)).toContainText('Edited.');
  const branches = page.getByRole('group', { name: 'Branches' });
  await expect(branches).toHaveText('3 / 3');
  await branches.getByRole('button', { name: 'Branch before' }).click();
  await branches.getByRole('button', { name: 'Branch before' }).click();
  await expect(page.getByRole('article')).toContainText('and so on.');

  await page.reload();
  const list = page.getByRole('complementary', { name: 'Conversations' });
  await expect(page.getByRole('article')).toContainText('and so on.');
  await list.getByLabel('Search').fill('nothing like it');
  await expect(list).toContainText('Nothing found.');
  await list.getByLabel('Search').fill('so ON');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    list.getByRole('button', { name: 'Export' }).click(),
  ]);
  const file = info.outputPath('conversations.json');
  await download.saveAs(file);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    conversations: [
      {
        title: 'Count, please',
        messages: [
          { role: 'user', content: 'Count, please' },
          {
            role: 'assistant',
            content: `${before} and so on.`,
            reasoning: expect.stringContaining('Counting.'),
          },
        ],
      },
    ],
  });
  await list.getByRole('button', { name: 'Delete: Count, please' }).click();
  await expect(page.getByRole('article')).toHaveCount(0);
  await list.getByLabel('File of conversations').setInputFiles(file);
  await expect(page.getByRole('article')).toContainText('and so on.');
  await list.getByLabel('File of conversations').setInputFiles({
    name: 'wrong.json',
    mimeType: 'application/json',
    buffer: Buffer.from('{"messages": [{"role": "wizard"}]}'),
  });
  await expect(list.getByRole('alert')).toContainText("'messages[0].role' must be");
});

test('the keyboard alone is enough', async ({ page, demo }) => {
  await demo.open({ turns: [{ reasoning: 'Hm.', content: 'Yes.' }] });
  const press = async (name: RegExp) => {
    await tabTo(page, name);
    await page.keyboard.press('Enter');
  };
  await press(/^Skip to the page/);
  await press(/^What is 23/);
  await answer(page);
  await page.getByRole('link', { name: 'Tokenprism' }).focus();
  await press(/Thought/);
  await expect(page.locator('.thinking-body')).toBeVisible();
  await press(/^Answer again/);
  await expect(page.getByRole('group', { name: 'Branches' })).toHaveText('2 / 2');
});

test('on a phone the conversations lie over the page, and go away again', async ({ page, demo }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await demo.open({ turns: [{ content: 'Yes.' }] });
  await ask(page, 'Kept?');
  await answer(page);
  await page.getByRole('link', { name: 'Form', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.getByRole('link', { name: 'Chat', exact: true }).click();
  await expect(page.getByRole('article')).toContainText('Yes.');
  const opener = page.getByRole('button', { name: 'Conversations' });
  const list = page.getByRole('complementary', { name: 'Conversations' });
  await expect(list).toBeHidden();
  await opener.click();
  await expect(list.getByLabel('Search')).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(list).toBeHidden();
  await expect(opener).toBeFocused();
  await opener.click();
  await page.mouse.click(350, 400);
  await expect(list).toBeHidden();
});

test('names what is wrong with the address, and a way on', async ({ page, demoOrigin }) => {
  await page.goto(`${demoOrigin}/?device=abacus`);
  await expect(page.getByRole('alert')).toContainText('There is no device "abacus"');
  await page.getByRole('link', { name: 'Start with the defaults' }).click();
  await expect(page).toHaveURL(`${demoOrigin}/`);
});

test('a click on Stop sends nothing that is already written', async ({ page, demo }) => {
  await demo.open({ turns: [{ content: 'One two three four five six seven eight.', delay: 60 }] });
  await ask(page, 'Count');
  await expect(page.locator('.markdown')).toContainText('One');
  await page.getByLabel('Your message').fill('A draft');
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(await answer(page)).toContainText('Stopped.');
  await expect(page.getByLabel('Your message')).toHaveValue('A draft');
  await expect(page.getByRole('article')).toHaveCount(1);
});
