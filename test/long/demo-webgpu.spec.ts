/** The demo's pages on WebGPU with the embedded model, which is slow on a software adapter. */
import { answer, ask, expect, parts, test } from '../browser/demo/site.ts';

const webgpu = '?device=webgpu';
const minutes = (count: number) => count * 60_000;

test('the chat answers', async ({ page, demo }) => {
  await demo.open({ query: webgpu });
  await page.getByText('Thinking', { exact: true }).click();
  await page.getByText('Tools', { exact: true }).click();
  await ask(page, 'Hello!');
  const newest = await answer(page, minutes(5));
  expect(await parts(newest)).toEqual(['markdown']);
  await expect(newest.locator('.markdown')).toContainText(/h(ello|i)/i);
});

test('the agent calls a tool and goes on', async ({ page, demo }) => {
  await demo.open({ query: webgpu, hash: '#/agent' });
  await ask(page, 'What is 23 * 19?');
  const newest = await answer(page, minutes(8));
  expect(await parts(newest)).toEqual(['thinking', 'calculator', 'thinking', 'markdown']);
  await expect(newest).toContainText('437');
});

test('a form is filled', async ({ page, demo }) => {
  await demo.open({ query: webgpu, hash: '#/form' });
  await page.getByRole('button', { name: 'Weather report' }).click();
  await page.getByRole('button', { name: 'Fill the form' }).click();
  const form = page.getByRole('region', { name: 'The form' });
  await expect(form).toHaveAttribute('aria-busy', 'false', { timeout: minutes(5) });
  await expect(form.getByText('Valid', { exact: true })).toBeVisible();
});

test('the inspector records an answer', async ({ page, demo }) => {
  await demo.open({ query: webgpu, hash: '#/inspector' });
  await page.getByLabel('A call is required').check();
  await page.getByRole('button', { name: 'Ask and record' }).click();
  await expect(page.getByRole('group', { name: 'Token stream' })).toBeVisible({ timeout: minutes(5) });
  await expect(page.getByRole('region', { name: 'Figures' })).toContainText('Time to first token');
});

test('the models page names the adapter that runs the model', async ({ page, demo }) => {
  await demo.open({ query: webgpu, hash: '#/models' });
  await expect(page.getByRole('region', { name: 'The loaded model' })).toContainText('WebGPU');
  await expect(page.getByRole('region', { name: 'This device' })).not.toContainText('no adapter');
});
