/** The agent page: real tools without a network, asked for where they must be, in so many steps. */
import type { Page } from '@playwright/test';
import { answer, ask, expect, expectAccessible, parts, tabTo, test } from './demo/site.ts';

const javascript = (code: string) => ({ calls: [{ name: 'run_javascript', arguments: { code } }] });

const card = async (page: Page, name: string) =>
  (await answer(page)).getByRole('region', { name: `Tool call: ${name}` });

test('the embedded model works in steps, and keeps what it found', async ({ page, demo }) => {
  await demo.open({ hash: '#/agent' });
  await page.getByRole('button', { name: 'Look up the weather in Berlin and save it as a note' }).click();
  expect(await parts(await answer(page))).toEqual([
    'thinking',
    'get_weather',
    'thinking',
    'add_note',
    'thinking',
    'markdown',
  ]);
  // Notes outlive the page.
  await page.reload();
  await expect(page.locator('.chip')).toHaveAttribute('data-state', 'ready', { timeout: 60_000 });
  await ask(page, 'Search my notes for Berlin');
  await expect((await card(page, 'search_notes')).getByLabel('Result')).toContainText('Berlin');
  await expectAccessible(page);
});

test('code asks before it runs, in a sandbox without network and with so much time', async ({
  page,
  demo,
  demoOrigin,
}) => {
  await demo.open({
    hash: '#/agent',
    turns: [
      javascript('console.log("hi"); return [1, 2, 3].map((n) => n * 2);'),
      { content: 'Done.' },
      javascript('return 1;'),
      { content: 'Not allowed.' },
      javascript('for (;;) {}'),
      { content: 'Too slow.' },
      // Without a policy against it, this would be answered.
      javascript(
        `return await fetch("${demoOrigin}/", { mode: "no-cors" }).then(() => "reached", (error) => error.name);`,
      ),
      { content: 'No network.' },
      javascript('return [typeof document, typeof localStorage, self.origin];'),
      { content: 'Apart.' },
    ],
  });
  await page.getByLabel('run_javascript').check();
  const running = page.getByRole('article').last().getByRole('region', { name: 'Tool call: run_javascript' });

  await ask(page, 'Double them');
  await expect(running).toContainText('May it run?');
  await expectAccessible(page);
  await running.getByRole('button', { name: 'Run it' }).click();
  await expect((await card(page, 'run_javascript')).getByLabel('Result')).toHaveText(
    '{ "result": [ 2, 4, 6 ], "console": [ "hi" ] }',
  );

  await ask(page, 'Again');
  await running.getByRole('button', { name: 'Don’t run' }).click();
  await expect(await card(page, 'run_javascript')).toContainText('the user did not allow this call');

  const allow = async (task: string) => {
    await ask(page, task);
    await running.getByRole('button', { name: 'Run it' }).click();
    return card(page, 'run_javascript');
  };
  await expect(await allow('For ever')).toContainText('took longer than 2 seconds');
  await expect((await allow('Fetch')).getByLabel('Result')).toContainText('TypeError');
  await expect((await allow('Look around')).getByLabel('Result')).toContainText(
    '[ "undefined", "undefined", "null" ]',
  );
});

test('the keyboard alone is enough', async ({ page, demo }) => {
  await demo.open({
    hash: '#/agent',
    turns: [javascript('return 6 * 7;'), { content: 'It is 42.' }, { content: 'Stopped?', delay: 300 }],
  });
  await tabTo(page, /^run_javascript/);
  await page.keyboard.press('Space');
  await tabTo(page, /^Your message/);
  await page.keyboard.type('Multiply them');
  await page.keyboard.press('Enter');
  await expect(page.getByText('May it run?')).toBeVisible();
  await tabTo(page, /^Run it/);
  await page.keyboard.press('Enter');
  const first = await answer(page);
  await expect(first).toContainText('It is 42.');
  await page.getByLabel('Your message').focus();
  await page.keyboard.type('Say more');
  await page.keyboard.press('Enter');
  await tabTo(page, /^Stop/);
  await page.keyboard.press('Enter');
  await expect((await answer(page)).getByText(/stopped/i)).toBeVisible();
});

test('files of a folder are read, and written only where that is allowed', async ({ page, demo }) => {
  await demo.open({
    hash: '#/agent',
    turns: [
      { calls: [{ name: 'list_files', arguments: {} }] },
      {
        calls: [
          { name: 'read_file', arguments: { path: 'notes/todo.txt' } },
          { name: 'read_file', arguments: { path: '../secret' } },
          { name: 'write_file', arguments: { path: 'x', text: 'x' } },
        ],
      },
      { content: 'Read.' },
      { calls: [{ name: 'write_file', arguments: { path: 'new.txt', text: 'written' } }] },
      { content: 'Written.' },
    ],
  });
  await page.evaluate(async () => {
    const root = await navigator.storage.getDirectory();
    const notes = await root.getDirectoryHandle('notes', { create: true });
    const file = await (await notes.getFileHandle('todo.txt', { create: true })).createWritable();
    await file.write('buy milk');
    await file.close();
    Object.assign(window, { showDirectoryPicker: async () => root });
  });
  await page.getByRole('button', { name: 'Open a folder' }).click();
  await ask(page, 'What is to do?');
  const read = await answer(page);
  const results = read.getByRole('region', { name: /^Tool call/ });
  await expect(results.nth(0)).toContainText('notes/');
  await expect(results.nth(1)).toContainText('buy milk');
  await expect(results.nth(2)).toContainText('the path must stay in the folder');
  await expect(results.nth(3)).toContainText('There is no tool "write_file"');

  await page.getByRole('button', { name: 'Allow writing' }).click();
  await ask(page, 'Write');
  await page.getByRole('button', { name: 'Run it' }).click();
  await answer(page);
  expect(
    await page.evaluate(async () => {
      const root = await navigator.storage.getDirectory();
      return (await (await root.getFileHandle('new.txt')).getFile()).text();
    }),
  ).toBe('written');
});

test('a run ends at its steps or when it is stopped, and goes on; a tool of one’s own is one of them', async ({
  page,
  demo,
}) => {
  const call = { calls: [{ name: 'roll_dice', arguments: { sides: 1 } }] };
  await demo.open({
    hash: '#/agent',
    turns: [call, call, { content: 'Two ones.' }, javascript('return 1;'), { content: 'Went on.' }],
  });
  await page.getByRole('button', { name: 'Add your own tool' }).click();
  const editor = page.getByRole('form', { name: 'Your own tool' });
  const schema = await editor.getByLabel('JSON schema').inputValue();
  await editor.getByLabel('JSON schema').fill(schema.replace('roll_dice', 'calculator'));
  await editor.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(editor.getByRole('alert')).toContainText('There is a tool calculator already');
  await expectAccessible(page);
  await editor.getByLabel('JSON schema').fill(schema);
  await editor.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByLabel('Steps').fill('1');
  await ask(page, 'Roll');
  await expect(await answer(page)).toContainText('Out of steps');
  await page.getByRole('button', { name: 'More steps' }).click();
  await page.getByRole('button', { name: 'More steps' }).click();
  const rolled = await answer(page);
  await expect(rolled).toContainText('Two ones.');
  expect(await parts(rolled)).toEqual(['roll_dice', 'roll_dice', 'markdown']);
  await expect(rolled.getByLabel('Result').first()).toHaveText('1');

  await page.getByLabel('run_javascript').check();
  await ask(page, 'Wait');
  await expect(page.getByRole('button', { name: 'Run it' })).toBeVisible();
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(await answer(page)).toContainText('Stopped.');
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(await answer(page)).toContainText('Went on.');
});
