/** The app without a network, its updates, and the models page. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answer, ask, expect, expectAccessible, test } from './demo/site.ts';

test('after one visit everything works with the network off', async ({ page, demo, context }) => {
  await demo.open({ hash: '#/models' });
  const device = page.getByRole('region', { name: 'This device' });
  await expect(device).toContainText('ready', { timeout: 60_000 });
  await expect(page.getByRole('region', { name: 'The loaded model' })).toContainText('tokenprism-tiny');
  await expectAccessible(page);

  await context.setOffline(true);
  // Not even from the browser's own cache: the service worker's alone.
  const browser = await context.newCDPSession(page);
  await browser.send('Network.enable');
  await browser.send('Network.setCacheDisabled', { cacheDisabled: true });
  await demo.open({ query: '?device=wasm&again', hash: '#/chat' });
  await ask(page, 'What is 23 * 19?');
  await expect(await answer(page)).toContainText('437');
  for (const name of ['Agent', 'Form', 'Inspector']) {
    await page.getByRole('link', { name, exact: true }).click();
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  }
  await context.setOffline(false);
});

test('a new version is offered, and taken when it is wanted', async ({ page, demo, demoFolder }) => {
  await demo.open();
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.reload();
  await expect(page.locator('.chip')).toHaveAttribute('data-state', 'ready', { timeout: 60_000 });
  const script = join(demoFolder, 'sw.js');
  const built = readFileSync(script, 'utf8');
  // The same files, as another version.
  writeFileSync(script, built.replace(/const version = "\w+"/, 'const version = "next"'));
  try {
    await page.evaluate(async () => (await navigator.serviceWorker.ready).update());
    const notice = page.getByText('A new version is ready.');
    await expect(notice).toBeVisible({ timeout: 60_000 });
    expect(await page.evaluate(() => caches.keys())).toHaveLength(2);
    await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Update' }).click()]);
    await expect(page.locator('.chip')).toHaveAttribute('data-state', 'ready', { timeout: 60_000 });
    expect(await page.evaluate(() => caches.keys())).toEqual(['tokenprism-demo-next']);
    await expect(notice).toBeHidden();
  } finally {
    writeFileSync(script, built);
  }
});

test('a model that is not there is named, and the embedded one comes back', async ({
  page,
  demo,
  demoOrigin,
}) => {
  await demo.open({ hash: '#/models' });
  await page.getByLabel(/address of a folder/).fill(`${demoOrigin}/nowhere/`);
  await page.getByRole('button', { name: 'Load', exact: true }).click();
  await expect(page.getByRole('alert')).toContainText('nowhere', { timeout: 60_000 });
  await page.getByRole('button', { name: 'Load: Embedded demonstration model' }).click();
  await expect(page.locator('.chip')).toHaveAttribute('data-state', 'ready', { timeout: 60_000 });
  await expect(page).toHaveURL(`${demoOrigin}/?device=wasm#/models`);
  // What the server said of the missing folder.
  demo.errors.splice(0);
});
