import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { chromiumArguments, ensureChromium } from '../../../scripts/chromium.mjs';

type Params = Record<string, unknown>;
interface Reply {
  id?: number;
  result?: Params;
  error?: { message: string };
}

/** A page of a {@link RawBrowser}. */
export interface RawPage {
  send(method: string, params?: Params): Promise<Params>;
  /** The value of an expression, which may be a promise. */
  run(expression: string): Promise<unknown>;
}

/** A Chromium that is told nothing but what a test tells it, by its DevTools protocol over a pipe. */
export class RawBrowser {
  readonly #process: ChildProcess;
  readonly #folder: string;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #last = 0;
  #received = '';

  private constructor(folder: string) {
    this.#folder = folder;
    const flags = ['--headless=new', '--remote-debugging-pipe', `--user-data-dir=${folder}`];
    this.#process = spawn(ensureChromium(), [...chromiumArguments({ adapter: 'software' }), ...flags], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    });
    const output = this.#process.stdio[4] as Readable;
    output.setEncoding('utf8').on('data', (text: string) => this.#receive(text));
  }

  static async start(): Promise<RawBrowser> {
    const browser = new RawBrowser(mkdtempSync(join(tmpdir(), 'tokenprism-chromium-')));
    await browser.#send('Browser.getVersion');
    return browser;
  }

  async open(url: string): Promise<RawPage> {
    const { targetId } = await this.#send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.#send('Target.attachToTarget', { targetId, flatten: true });
    const send = (method: string, params?: Params) => this.#send(method, params, sessionId as string);
    const run = async (expression: string) => {
      const { result, exceptionDetails } = (await send('Runtime.evaluate', {
        expression,
        awaitPromise: true,
        returnByValue: true,
      })) as { result: { value?: unknown }; exceptionDetails?: unknown };
      if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
      return result.value;
    };
    await send('Page.enable');
    await send('Page.navigate', { url });
    while ((await run('document.readyState')) !== 'complete' || (await run('location.href')) !== url) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return { send, run };
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    await this.#send('Browser.close');
    await ended;
    // Its other processes may take a moment more.
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  #send(method: string, params: Params = {}, sessionId?: string): Promise<Params> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ result, error }) => {
        if (error) reject(new Error(`${method}: ${error.message}`));
        else resolve(result ?? {});
      });
      const input = this.#process.stdio[3] as Writable;
      input.write(`${JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) })}\0`);
    });
  }

  /** Messages end with a zero. */
  #receive(text: string): void {
    const messages = (this.#received + text).split('\0');
    this.#received = messages.pop()!;
    for (const message of messages) {
      const reply = JSON.parse(message) as Reply;
      if (reply.id === undefined) continue;
      this.#waiting.get(reply.id)?.(reply);
      this.#waiting.delete(reply.id);
    }
  }
}
