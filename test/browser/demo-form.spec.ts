/** The form that the model fills, held by its schema at any temperature. */
import { expect, expectAccessible, tabTo, test } from './demo/site.ts';

test('stays valid at temperature 2, for every schema', async ({ page, demo }) => {
  await demo.open({ hash: '#/form' });
  const form = page.getByRole('region', { name: 'The form' });
  await page.getByLabel(/^Temperature/).fill('2');
  for (const example of ['Weather report', 'Contact']) {
    await page.getByRole('button', { name: example }).click();
    await page.getByRole('button', { name: 'Fill the form' }).click();
    await expect(form).toHaveAttribute('aria-busy', 'false', { timeout: 60_000 });
    await expect(form.getByText('Valid', { exact: true })).toBeVisible();
  }
  const answer = JSON.parse((await form.getByLabel('The answer as it came').textContent())!);
  await expect(form.getByLabel('E-mail')).toHaveValue(answer.email);
  await expectAccessible(page);
  await page.getByLabel('JSON schema').fill('{"type": "object"');
  await expect(page.getByRole('alert')).toContainText('not JSON');
  await expect(page.getByRole('button', { name: 'Fill the form' })).toBeDisabled();
});

test('fills while the answer streams, and can be stopped', async ({ page, demo }) => {
  const text = '{"city": "Paris la grande ville", "degrees": 18, "unit": "celsius", "rain": true}';
  await demo.open({ hash: '#/form', turns: [{ text, delay: 60 }] });
  await page.getByRole('button', { name: 'Fill the form' }).click();
  await expect(page.getByLabel('City', { exact: true })).toHaveValue(/^Par/);
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(page.getByRole('region', { name: 'The form' })).toContainText('Stopped');
});

test('the keyboard alone is enough', async ({ page, demo }) => {
  const text = '{"city": "Paris", "degrees": 18, "unit": "celsius", "rain": true}';
  await demo.open({ hash: '#/form', turns: [{ text }] });
  await tabTo(page, /^Weather report/);
  await page.keyboard.press('Enter');
  await tabTo(page, /^Fill the form/);
  await page.keyboard.press('Enter');
  const form = page.getByRole('region', { name: 'The form' });
  await expect(form.getByText('Valid', { exact: true })).toBeVisible();
  await expect(page.getByLabel('City', { exact: true })).toHaveValue('Paris');
});
