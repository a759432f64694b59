import { type ChatSurface, completeChat, completeText, detokenize, tokenize } from './chat-completions.ts';
import { refusal } from './errors.ts';

interface Route {
  method: string;
  /** Whether there is something to answer; default: there is. */
  isThere?(surface: ChatSurface): boolean;
  /** Its group, where it has one, is given to `answer`. */
  path: RegExp;
  answer(surface: ChatSurface, request: Request, name: string): Promise<Response>;
}

const routes: Route[] = [
  {
    method: 'POST',
    path: /^\/v1\/chat\/completions$/,
    answer: completeChat,
  },
  {
    method: 'POST',
    path: /^\/v1\/completions$/,
    isThere: ({ text }) => text !== undefined,
    answer: ({ text }, request) => completeText(text!, request),
  },
  // vLLM's, which stand beside its /v1.
  {
    method: 'POST',
    path: /^(?:\/v1)?\/tokenize$/,
    isThere: ({ tokens }) => tokens !== undefined,
    answer: ({ tokens }, request) => tokenize(tokens!, request),
  },
  {
    method: 'POST',
    path: /^(?:\/v1)?\/detokenize$/,
    isThere: ({ tokens }) => tokens !== undefined,
    answer: ({ tokens }, request) => detokenize(tokens!, request),
  },
  {
    method: 'GET',
    path: /^\/v1\/models$/,
    answer: async ({ models }) => Response.json(await models.list()),
  },
  {
    // A model's id may hold a slash, which most clients encode.
    method: 'GET',
    path: /^\/v1\/models\/(.+)$/,
    answer: async ({ models }, _request, name) => Response.json(await models.retrieve(decoded(name))),
  },
];

/** Answers a request by its method and path. Throws what the engine throws. */
export async function route(surface: ChatSurface, request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  for (const { method, path, isThere, answer } of routes) {
    const match = path.exec(pathname);
    if (!match || isThere?.(surface) === false) continue;
    if (request.method === method) return answer(surface, request, match[1] ?? '');
    const message = `${pathname} takes ${method}; got ${request.method}.`;
    return refusal(405, 'method_not_allowed', message, { allow: method });
  }
  return refusal(
    404,
    'unknown_url',
    `Nothing answers ${request.method} ${pathname}: there are POST /v1/chat/completions, ` +
      (surface.text ? 'POST /v1/completions, POST /tokenize, POST /detokenize, ' : '') +
      "GET /v1/models and GET /v1/models/{model}. The client's base URL must end in /v1, right behind the host.",
  );
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    // A stray percent sign: then this is the name.
    return name;
  }
}
