/**
 * `npm run ask -- "What is 23 * 19?"`: the engine and the demo's tools in a headless Chromium, the conversation in
 * the terminal. Everything but the answer itself goes to stderr with `--json`.
 */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createPrinter } from './ask/printer.mjs';
import { chromiumArguments, ensureChromium } from './chromium.mjs';
import { setup } from './setup.mjs';

const help = `Usage: npm run ask -- [options] "question"

Runs a model in a headless Chromium on WebGPU, with the seven tools of the demo, until the answer is there.

  --json               print one JSON object on stdout instead of the conversation:
                       { model, device, messages, prompts, choices, usage, timings }
                       (npm prints two lines of its own before it: use "npm run -s ask -- --json …")
  --no-think           ask for an answer without thinking
  --model <model>      a Hub repository, the URL of a folder, or a folder of this machine
                       (default: the embedded demonstration model)
  --tool-choice <c>    auto, none, or a tool choice as JSON (default: auto)
  --max-tokens <n>     the most tokens of one round
  --seed <n>           for sampling; the embedded model is greedy and needs none
  --device <device>    webgpu or wasm (default: webgpu)
  --client <client>    ask through an official client: openai, or ai-sdk (the AI SDK with its provider for
                       OpenAI-compatible servers)
  --help               this text
`;

/** Milliseconds without a word from the page after which the run is given up. */
const patience = 5 * 60_000;

/** A mistake on the command line, a failed run: said in one line, without a stack. */
class AskError extends Error {}

function wholeNumber(name, text, lowest) {
  if (text === undefined) return null;
  const number = Number(text);
  if (text.trim() !== '' && Number.isSafeInteger(number) && number >= lowest) return number;
  const range = lowest > 0 ? ` from ${lowest} on` : '';
  throw new AskError(`--${name} must be a whole number${range}; got "${text}".`);
}

function toolChoice(text) {
  if (!text?.startsWith('{')) return text ?? null;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AskError(`--tool-choice is not valid JSON: ${error.message}`);
  }
}

function parseCommandLine(argumentList) {
  let parsed;
  try {
    parsed = parseArgs({
      args: argumentList,
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        'no-think': { type: 'boolean', default: false },
        model: { type: 'string' },
        'tool-choice': { type: 'string' },
        'max-tokens': { type: 'string' },
        seed: { type: 'string' },
        device: { type: 'string', default: 'webgpu' },
        client: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new AskError(`${error.message} ("npm run ask -- --help" shows the options.)`);
  }
  const { values, positionals } = parsed;
  const question = positionals.join(' ').trim();
  if (question === '' && !values.help) {
    throw new AskError('Ask something: npm run ask -- "What is 23 * 19?"');
  }
  if (!['webgpu', 'wasm'].includes(values.device)) {
    throw new AskError(`--device must be webgpu or wasm; got "${values.device}".`);
  }
  if (values.client !== undefined && !['openai', 'ai-sdk'].includes(values.client)) {
    throw new AskError(`--client must be openai or ai-sdk; got "${values.client}".`);
  }
  return {
    help: values.help,
    json: values.json,
    model: values.model ?? null,
    question: {
      question,
      device: values.device,
      client: values.client ?? null,
      thinking: !values['no-think'],
      toolChoice: toolChoice(values['tool-choice']),
      maxTokens: wholeNumber('max-tokens', values['max-tokens'], 1),
      seed: wholeNumber('seed', values.seed, Number.MIN_SAFE_INTEGER),
    },
  };
}

/** What the page calls the model: a folder of this machine is served to it. */
function locateModel(model) {
  if (model === null) return { model, folders: [], network: false };
  if (existsSync(model) && statSync(model).isDirectory()) {
    const folder = resolve(model).replaceAll('\\', '/');
    return { model: `/@fs/${encodeURI(folder.replace(/^\//, ''))}/`, folders: [folder], network: false };
  }
  // No repository's name and no address begins like this.
  if (/^(?:\.{0,2}[\\/]|~|[A-Za-z]:[\\/])/.test(model)) throw new AskError(`There is no folder ${model}.`);
  return { model, folders: [], network: true };
}

/** Rejects when `beat` was not called for {@link patience}. */
function createWatchdog() {
  let timer;
  let giveUp;
  const expired = new Promise((_, reject) => {
    giveUp = () => {
      reject(new AskError(`Nothing came from the browser for ${patience / 60_000} minutes; given up.`));
    };
  });
  const beat = () => {
    clearTimeout(timer);
    timer = setTimeout(giveUp, patience);
  };
  beat();
  return { expired, beat, stop: () => clearTimeout(timer) };
}

async function ask({ question, model: named, json }) {
  setup();
  const { chromium } = await import('playwright-core');
  const { serveSources } = await import('./serve-sources.mjs');
  const { model, folders, network } = locateModel(named);
  const executablePath = ensureChromium();
  const printer = createPrinter({ json });
  const watchdog = createWatchdog();
  const server = await serveSources({ folders });
  let browser;
  let isFinished = false;
  try {
    browser = await chromium.launch({ executablePath, args: chromiumArguments({ network }) });
    const page = await browser.newPage();
    const crashed = new Promise((_, reject) => {
      page.on('crash', () => reject(new AskError('The browser page crashed.')));
      browser.on('disconnected', () => {
        if (!isFinished) reject(new AskError('The browser ended before the answer was there.'));
      });
    });
    // Errors that are nobody's fault but ours: shown whole, for a report.
    page.on('pageerror', (error) => console.error(error.stack ?? error.message));
    await page.exposeFunction('report', (report) => {
      watchdog.beat();
      printer.report(report);
    });
    await page.goto(`${server.origin}/scripts/ask/index.html`);
    if (!(await page.evaluate(() => 'ask' in window))) {
      throw new AskError('The page did not load its modules; "npm run check" shows what is wrong with them.');
    }
    const answer = page.evaluate((asked) => window.ask(asked), { ...question, model });
    const result = await Promise.race([answer, crashed, watchdog.expired]);
    if ('error' in result) throw new AskError(result.error);
    printer.finish(result.run);
  } finally {
    printer.close();
    watchdog.stop();
    isFinished = true;
    await browser?.close();
    await server.close();
  }
}

try {
  const command = parseCommandLine(process.argv.slice(2));
  if (command.help) process.stdout.write(help);
  else await ask(command);
} catch (error) {
  console.error(error instanceof AskError ? error.message : error.message.split('\n')[0]);
  process.exitCode = 1;
}
