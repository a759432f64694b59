/**
 * JavaScript that a model or a person wrote, run apart: in a worker of a sandboxed frame, which has an origin of its
 * own, a policy of its own without any network, and so much time.
 */
import { type DemoTool, requireObject, requireText, ToolError } from './tool.ts';

/** Milliseconds. */
export const timeLimit = 2_000;

export interface SandboxResult {
  /** What the code returned, as JSON has it. */
  value: unknown;
  /** Lines of the console. */
  output: string[];
  /** What was thrown, or why it was ended; `null` when all went well. */
  error: string | null;
}

export interface SandboxOptions {
  /** The variable `args` of the code. */
  args?: Record<string, unknown>;
  signal?: AbortSignal;
  /** Milliseconds; default {@link timeLimit}. */
  limit?: number;
}

let frame: Promise<Window> | null = null;
let runs = 0;

/** Runs `code` as the body of an async function. Rejects only where `signal` aborts or there is no sandbox. */
export async function runJavaScript(
  code: string,
  { args = {}, signal, limit = timeLimit }: SandboxOptions = {},
): Promise<SandboxResult> {
  frame ??= openFrame();
  const sandbox = await frame;
  const id = ++runs;
  return new Promise((resolve, reject) => {
    const done = (settle: () => void) => {
      removeEventListener('message', onMessage);
      signal?.removeEventListener('abort', onAbort);
      settle();
    };
    const onMessage = ({ source, data }: MessageEvent) => {
      // The frame's origin is opaque: it is known by its window.
      if (source !== sandbox || data?.id !== id) return;
      done(() => resolve({ value: data.value, output: data.output, error: data.error }));
    };
    const onAbort = () => {
      sandbox.postMessage({ type: 'stop', id }, '*');
      done(() => reject(signal?.reason));
    };
    addEventListener('message', onMessage);
    signal?.addEventListener('abort', onAbort);
    sandbox.postMessage({ type: 'run', id, code, args, limit }, '*');
  });
}

function openFrame(): Promise<Window> {
  return new Promise((resolve, reject) => {
    const element = document.createElement('iframe');
    element.setAttribute('sandbox', 'allow-scripts');
    element.setAttribute('aria-hidden', 'true');
    element.title = 'JavaScript sandbox';
    element.tabIndex = -1;
    element.hidden = true;
    element.src = new URL('sandbox/sandbox.html', document.baseURI).href;
    const onMessage = ({ source, data }: MessageEvent) => {
      if (source !== element.contentWindow || data?.type !== 'ready') return;
      removeEventListener('message', onMessage);
      clearTimeout(timer);
      resolve(element.contentWindow!);
    };
    const timer = setTimeout(() => {
      removeEventListener('message', onMessage);
      element.remove();
      frame = null;
      reject(new ToolError('the sandbox did not start'));
    }, 10_000);
    addEventListener('message', onMessage);
    document.body.append(element);
  });
}

export const javascriptTool: DemoTool = {
  name: 'run_javascript',
  description:
    'Run JavaScript in a sandbox without network or page. The code is the body of an async function: return the result.',
  parameters: {
    type: 'object',
    properties: { code: { type: 'string', description: 'Body of an async function' } },
    required: ['code'],
  },
  remark: `Ran in a sandbox without network, for at most ${timeLimit / 1000} seconds.`,
  asks: true,
  async run(args, { signal }) {
    const code = requireText(requireObject(args), 'code');
    const { value, output, error } = await runJavaScript(code, { signal });
    if (error !== null) throw new ToolError(error);
    return { result: value ?? null, ...(output.length > 0 && { console: output }) };
  },
};
