/** A real HTTP server on loopback that answers as its test says, in the shapes that vLLM has. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What tests look at closer; any other field may be there. */
export interface SentBody {
  messages: Record<string, unknown>[];
  [field: string]: unknown;
}

export interface SeenRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  /** `null` without one. */
  body: SentBody | null;
  /** Resolves when the client has closed the connection before the response's end. */
  left: Promise<void>;
}

export type Answer = (response: ServerResponse, request: SeenRequest) => void | Promise<void>;

export class ReplayServer {
  readonly requests: SeenRequest[] = [];
  readonly #answers: Answer[];
  readonly #server = createServer((request, response) => void this.#handle(request, response));

  /** @param answers to the `POST`s in order; the last one again and again */
  constructor(answers: Answer[]) {
    this.#answers = answers;
  }

  static async start(...answers: Answer[]): Promise<ReplayServer> {
    const server = new ReplayServer(answers);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get baseURL(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    if (this.#server.listening) await once(this.#server, 'close');
  }

  get posts(): (SeenRequest & { body: SentBody })[] {
    return this.requests.flatMap((seen) => {
      const { method, body } = seen;
      return method === 'POST' && body ? { ...seen, body } : [];
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('access-control-allow-origin', '*');
    if (request.method === 'OPTIONS') {
      response.writeHead(204, { 'access-control-allow-headers': 'authorization, content-type' }).end();
      return;
    }
    let text = '';
    for await (const part of request.setEncoding('utf8')) text += String(part);
    const seen: SeenRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: text === '' ? null : (JSON.parse(text) as SentBody),
      left: new Promise((resolve) => {
        response.on('close', () => {
          if (!response.writableFinished) resolve();
        });
      }),
    };
    this.requests.push(seen);
    if (seen.method === 'GET') {
      json(200, { object: 'list', data: [modelCard] })(response, seen);
      return;
    }
    const answer = this.#answers[Math.min(this.posts.length, this.#answers.length) - 1]!;
    await answer(response, seen);
  }
}

/** As vLLM lists a model. */
export const modelCard = {
  id: 'served',
  object: 'model',
  created: 1_700_000_000,
  owned_by: 'vllm',
  root: 'served',
  parent: null,
  max_model_len: 4096,
  permission: [],
};

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };

/** vLLM's own form of an error. */
export const refusal = (
  status: number,
  message: string,
  type = 'BadRequestError',
  headers: Record<string, string> = {},
): Answer => json(status, { error: { message, type, param: null, code: status } }, headers);

/** Chunks as server-sent events; strings are sent as they are. */
export const events =
  (chunks: readonly (object | string)[], { done = true } = {}): Answer =>
  async (response) => {
    begin(response);
    for (const chunk of chunks) await send(response, chunk);
    response.end(done ? 'data: [DONE]\n\n' : undefined);
  };

/** The same, with the connection gone behind the last chunk. */
export const broken =
  (chunks: readonly (object | string)[]): Answer =>
  async (response) => {
    begin(response);
    for (const chunk of chunks) await send(response, chunk);
    response.destroy();
  };

/** The same, with nothing more behind the last chunk. */
export const stuck =
  (chunks: readonly object[]): Answer =>
  async (response) => {
    begin(response);
    response.flushHeaders();
    for (const chunk of chunks) await send(response, chunk);
  };

function begin(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
}

function send(response: ServerResponse, chunk: object | string): Promise<void> {
  const text = typeof chunk === 'string' ? chunk : `data: ${JSON.stringify(chunk)}\n\n`;
  return new Promise((resolve) => {
    response.write(text, () => resolve());
  });
}

const head = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_001,
  model: 'served',
};

export const chunk = (delta: object, more: object = {}, index = 0) => ({
  ...head,
  choices: [{ index, delta, logprobs: null, finish_reason: null, ...more }],
});

export const role = (index = 0) => ({
  ...chunk({ role: 'assistant', content: '' }, {}, index),
  prompt_token_ids: null,
});
export const reasoning = (text: string, index = 0) => chunk({ reasoning: text }, {}, index);
export const content = (text: string, index = 0) => chunk({ content: text }, {}, index);
export const call = (name: string, index = 0, id = `chatcmpl-tool-${index}`) =>
  chunk({ tool_calls: [{ id, type: 'function', index, function: { name } }] });
export const argument = (text: string, index = 0) =>
  chunk({ tool_calls: [{ index, function: { arguments: text } }] });
export const finish = (reason: string, stop: string | number | null = null, index = 0) =>
  chunk({ content: '' }, { finish_reason: reason, stop_reason: stop, token_ids: null }, index);
export const usage = (prompt: number, completion: number) => ({
  ...head,
  choices: [],
  usage: { prompt_tokens: prompt, total_tokens: prompt + completion, completion_tokens: completion },
});
