/** The demo as it is built and served, under its own policy, for the specs of its pages. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test as base, expect, type Locator, type Page } from '@playwright/test';
import { build, preview } from 'vite';
import { type Turn, writtenTurns } from '../../../src/testing/turns.ts';
import { addressOf } from '../harness/built-page.ts';
import { foreignRequests } from '../harness/fixture.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface DemoOptions {
  /** Of the address, for example `#/form`. */
  hash?: string;
  /** Default `?device=wasm`. */
  query?: string;
  /** Answers in the place of the embedded model. */
  turns?: Turn[];
}

interface Demo {
  /** Opens the demo, and waits for its model. */
  open(options?: DemoOptions): Promise<void>;
  /** Errors of the page and refusals of its policy so far; a test fails if there are any at its end. */
  errors: string[];
}

/**
 * `demo` opens the app, which lies built in `demoFolder`. An error on the page, a refusal of its policy or a request to any other
 * origin fails the test.
 */
export const test = base.extend<{ demo: Demo }, { demoFolder: string; demoOrigin: string }>({
  demoFolder: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixture's needs from this pattern.
    async ({}, use) => {
      const folder = mkdtempSync(join(tmpdir(), 'tokenprism-demo-'));
      await use(folder);
      rmSync(folder, { recursive: true, force: true });
    },
    { scope: 'worker' },
  ],

  demoOrigin: [
    async ({ demoFolder }, use) => {
      const shared = {
        configFile: fileURLToPath(new URL('../../../vite.config.ts', import.meta.url)),
        mode: 'demo',
        logLevel: 'error',
        build: { outDir: demoFolder, emptyOutDir: true },
      } as const;
      await build(shared);
      const server = await preview({ ...shared, preview: { port: 0, host: '127.0.0.1' } });
      await use(addressOf(server.httpServer.address()));
      await server.close();
    },
    { scope: 'worker', timeout: 90_000 },
  ],

  demo: async ({ page, context, demoOrigin }, use) => {
    page.setDefaultTimeout(20_000);
    const errors: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    page.on('pageerror', (error) => errors.push(String(error)));
    const foreign = foreignRequests(context, demoOrigin);
    await use({
      errors,
      async open({ hash = '', query = '?device=wasm', turns } = {}) {
        if (turns) await page.addInitScript(replaceBackend, writtenTurns(turns));
        await page.goto(`${demoOrigin}/${query}${hash}`);
        await expect(page.locator('.chip')).toHaveAttribute('data-state', 'ready', { timeout: 60_000 });
      },
    });
    expect(errors, 'errors on the page').toEqual([]);
    expect(foreign, 'requests to other origins').toEqual([]);
  },
});

/** Runs in the page: what the engine tells its worker to load is the same model, with answers that are given. */
function replaceBackend(turns: ReturnType<typeof writtenTurns>): void {
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (this: Worker, ...given: unknown[]) {
    const [message] = given as [{ type?: string; backend?: unknown }];
    if (message?.type === 'load' && message.backend) message.backend = { kind: 'scripted', turns };
    Reflect.apply(postMessage, this, given);
  } as typeof postMessage;
}

/** Presses Tab until what is named so has the focus: its label and its text, or the label of a field. */
export async function tabTo(page: Page, name: RegExp, most = 60): Promise<void> {
  for (let count = 0; count < most; count++) {
    await page.keyboard.press('Tab');
    const label = await page.evaluate(() => {
      const node = document.activeElement as HTMLInputElement | null;
      const labels = Array.from(node?.labels ?? [], ({ textContent }) => textContent);
      return [node?.getAttribute('aria-label'), ...labels, node?.textContent].join(' ').trim();
    });
    if (name.test(label)) return;
  }
  throw new Error(`Tab does not reach ${name}`);
}

export async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel('Your message').fill(question);
  await page.keyboard.press('Enter');
}

/** The newest answer, when it is complete. */
export async function answer(page: Page, timeout = 60_000): Promise<Locator> {
  const newest = page.getByRole('article', { name: 'Answer' }).last();
  await expect(newest).toHaveAttribute('aria-busy', 'false', { timeout });
  return newest;
}

/** What an answer consists of, top to bottom. */
export function parts(newest: Locator): Promise<(string | undefined)[]> {
  return newest.evaluate((root) =>
    [...root.children]
      .filter((part) => !part.matches('.row-actions, .actions'))
      .map((part) => part.querySelector('.tool-name')?.textContent ?? part.classList[0]),
  );
}

/** What breaks WCAG 2.1 A and AA on the page as it stands, and is seen by a program. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axeSource);
  return page.evaluate(async () => {
    const { axe } = window as unknown as { axe: typeof import('axe-core') };
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'];
    const result = await axe.run(document, { runOnly: { type: 'tag', values: tags } });
    return result.violations.flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.target.join(' ')} ${node.failureSummary ?? ''}`),
    );
  });
}

/** Looks at the page in light, dark and at phone width. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    expect(await violations(page), colorScheme).toEqual([]);
  }
  const size = page.viewportSize()!;
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await violations(page), 'on a phone').toEqual([]);
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow, 'sideways overflow on a phone, in pixels').toBe(0);
  await page.setViewportSize(size);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: null });
}

export { expect };
