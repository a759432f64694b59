/** The inspector: a recorded answer and a pasted output, token by token. */
import { expect, expectAccessible, test } from './demo/site.ts';

test('records an answer of the embedded model: tokens, events, probabilities, figures', async ({
  page,
  demo,
}) => {
  await demo.open({ hash: '#/inspector' });
  await page.getByLabel('A call is required').check();
  await page.getByRole('button', { name: 'Ask and record' }).click();
  const tokens = page.getByRole('group', { name: 'Token stream' });
  await expect(tokens).toBeVisible({ timeout: 60_000 });
  const step = page.getByRole('region', { name: 'The step' });
  const figures = page.getByRole('region', { name: 'Figures' });
  await expect(figures).toContainText('Time to first token');
  await expect(figures.getByRole('img')).toHaveAttribute('aria-label', /median \d/);

  await tokens.getByRole('button').first().focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await expect(tokens.getByRole('button').nth(2)).toBeFocused();
  await expect(step.getByRole('listitem').filter({ hasText: 'reasoning' })).toHaveAttribute(
    'aria-current',
    'step',
  );
  const likely = tokens.locator('.token.reasoning').nth(3);
  await likely.click();
  await expect(step.getByRole('table').getByRole('row').first()).toContainText('%');
  const written = tokens.locator('.token.arguments').nth(1);
  await written.click();
  await expect(step).toContainText(/Grammar\s*let (only this token|[\d,]+ tokens) come/);
  await tokens.getByRole('button').last().click();
  await expect(step.locator('[aria-current]')).toHaveText('end');
  await expect(step).toContainText('calculator {"expression": "23 * 19"}');
  await page.getByText(/^The prompt, \d+ tokens/).click();
  await expect(page.getByLabel('The prompt as the model read it')).toContainText('<|im_start|>user');
  await expectAccessible(page);
});

test('takes a pasted output apart by the format that is chosen', async ({ page, demo }) => {
  await demo.open({ hash: '#/inspector', turns: [{ content: 'x' }] });
  await page.getByRole('button', { name: 'Paste an output' }).click();
  await page.getByLabel(/^Reasoning/).selectOption('');
  await page.getByLabel('Tool calls').selectOption('pythonic');
  await page.getByLabel('Cut into').selectOption('characters');
  await page.getByLabel('Raw output').fill('[look(at="Rome")]');
  await page.getByRole('button', { name: 'Take apart' }).click();
  const tokens = page.getByRole('group', { name: 'Token stream' });
  await expect(tokens.getByRole('button')).toHaveText([...'[look(at="Rome")]', '∎']);
  const step = page.getByRole('region', { name: 'The step' });
  await expect(step).toContainText('held until it is known');
  await tokens.getByRole('button').last().click();
  await expect(step).toContainText('look {"at": "Rome"}');
  await expectAccessible(page);
});
