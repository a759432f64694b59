/**
 * What people split output with in JavaScript today, behind one interface: text goes in as a worker's deltas, parts
 * come out as the caller of the AI SDK's stream gets them.
 */
import { TransformersJSLanguageModel } from '@browser-ai/transformers-js';
import { extractReasoningMiddleware } from 'ai';

/** The AI SDK's middleware, behind a model that streams text. */
const middleware = {
  name: 'AI SDK',
  readsCalls: false,
  async open({ startsInReasoning }) {
    let source;
    const stream = new ReadableStream({
      start(controller) {
        source = controller;
      },
    });
    source.enqueue({ type: 'text-start', id: '0' });
    const reader = await withReasoning(Promise.resolve({ stream }), startsInReasoning);
    return {
      push: (text) => source.enqueue({ type: 'text-delta', id: '0', delta: text }),
      end: () => {
        source.enqueue({ type: 'text-end', id: '0' });
        source.close();
      },
      next: () => next(reader),
    };
  },
};

/**
 * The provider for transformers.js with its own detection of calls, and that middleware; in the place of its worker
 * stands one that is told what to say.
 */
const provider = {
  name: '@browser-ai/transformers-js',
  readsCalls: true,
  async open({ tools, startsInReasoning }) {
    const listeners = new Set();
    const say = (data) => {
      for (const listener of [...listeners]) listener({ data });
    };
    const worker = {
      addEventListener: (_type, listener) => listeners.add(listener),
      removeEventListener: (_type, listener) => listeners.delete(listener),
      postMessage: ({ type }) => {
        if (type === 'load') queueMicrotask(() => say({ status: 'ready' }));
      },
    };
    // It takes its worker only where there is a window.
    globalThis.window ??= globalThis;
    const model = new TransformersJSLanguageModel('measured', { worker });
    const result = model.doStream({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'Write.' }] }],
      tools: tools.map(({ name, parameters }) => ({ type: 'function', name, inputSchema: parameters ?? {} })),
    });
    const reader = await withReasoning(result, startsInReasoning);
    return {
      push: (text) => say({ status: 'update', output: text }),
      end: () => say({ status: 'complete', inputLength: 0, numTokens: 0 }),
      next: () => next(reader),
    };
  },
};

export const peers = [middleware, provider];

async function withReasoning(result, startWithReasoning) {
  const { wrapStream } = extractReasoningMiddleware({ tagName: 'think', startWithReasoning });
  const { stream } = await wrapStream({ doStream: () => result });
  return stream.getReader();
}

async function next(reader) {
  return (await reader.read()).value ?? null;
}
