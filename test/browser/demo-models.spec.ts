/** The models page: a download that is paused, and a folder from disk. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answer, ask, expect, test } from './demo/site.ts';

const folder = fileURLToPath(new URL('../../models/tiny/', import.meta.url));

// It would answer in the place of the routes below.
test.use({ serviceWorkers: 'block' });

test('a download is paused and goes on, by keyboard, and shows how much has come', async ({
  page,
  demo,
  demoOrigin,
}) => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let asked = 0;
  await page.route(`${demoOrigin}/served/**`, async (route) => {
    const path = join(folder, new URL(route.request().url()).pathname.slice('/served/'.length));
    if (!existsSync(path)) return route.fulfill({ status: 404 });
    if (path.endsWith('.onnx') && asked++ === 0) await held;
    // The first request for the weights has been given up by then.
    await route.fulfill({ body: readFileSync(path) }).catch(() => {});
  });
  await demo.open({ hash: '#/models' });
  await page.getByLabel(/address of a folder/).fill(`${demoOrigin}/served/`);
  await page.keyboard.press('Enter');
  const loaded = page.getByRole('region', { name: 'The loaded model' });
  await expect.poll(() => asked, { timeout: 30_000 }).toBe(1);
  await expect(loaded).toContainText(/\d [kM]B of [\d.]+ [kM]B/);
  await loaded.getByRole('button', { name: 'Pause' }).focus();
  await page.keyboard.press('Enter');
  await expect(loaded).toContainText('Paused');
  await expect(page.locator('.chip')).toContainText('Paused');
  await expect(loaded.getByRole('button', { name: 'Resume' })).toBeFocused();
  release();
  await page.keyboard.press('Enter');
  await expect(page.locator('.chip')).toHaveAttribute('data-state', 'ready', { timeout: 60_000 });
  await expect(loaded).toContainText('served');
  expect(asked).toBe(2);
  // What the server said of the manifest that is not there.
  demo.errors.splice(0);
});

test('a model comes from a folder on disk', async ({ page, demo }) => {
  await demo.open({ hash: '#/models' });
  const opener = page.getByLabel(/folder on this device/);
  await opener.setInputFiles(fileURLToPath(new URL('../../docs/', import.meta.url)));
  await expect(page.getByRole('alert')).toContainText('config.json');
  await opener.setInputFiles(folder);
  await expect(page.getByRole('region', { name: 'The loaded model' })).toContainText('tiny', {
    timeout: 60_000,
  });
  await page.getByRole('link', { name: 'Chat', exact: true }).click();
  await ask(page, 'What is 23 * 19?');
  await expect(await answer(page)).toContainText('437');
});
