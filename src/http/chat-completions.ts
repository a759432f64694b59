import type { Completions } from '../chat/completions.ts';
import type { Models } from '../chat/models.ts';
import type { TextCompletions } from '../chat/text-completions.ts';
import type { TextCompletionCreateParams } from '../chat/text-types.ts';
import type { DetokenizeParams, TokenizeParams, Tokens } from '../chat/tokens.ts';
import type { ChatCompletionChunk, ChatCompletionCreateParams, IncompleteToolCalls } from '../chat/types.ts';
import { respond } from './answer.ts';
import { readJson } from './body.ts';
import { wholeCalls } from './whole-calls.ts';

/** The engine, seen from its HTTP surface. What it lacks has no route. */
export interface ChatSurface {
  completions: Pick<Completions, 'create'>;
  models: Pick<Models, 'list' | 'retrieve'>;
  incompleteToolCalls: IncompleteToolCalls;
  text?: Pick<TextCompletions, 'create'>;
  tokens?: Pick<Tokens, 'tokenize' | 'detokenize'>;
}

/** `POST /v1/chat/completions`: the completion as JSON, or with `stream: true` its chunks as server-sent events. */
export async function completeChat(surface: ChatSurface, request: Request): Promise<Response> {
  // Whatever it holds: `create` checks it.
  const body = (await readJson(request)) as ChatCompletionCreateParams;
  return respond<ChatCompletionChunk>(
    request,
    (options) => surface.completions.create(body, options),
    surface.incompleteToolCalls === 'separate' ? wholeCalls : undefined,
  );
}

/** `POST /v1/completions`, in the same way. */
export async function completeText(
  text: Pick<TextCompletions, 'create'>,
  request: Request,
): Promise<Response> {
  const body = (await readJson(request)) as TextCompletionCreateParams;
  return respond(request, (options) => text.create(body, options));
}

/** `POST /tokenize`. */
export async function tokenize(tokens: Pick<Tokens, 'tokenize'>, request: Request): Promise<Response> {
  return Response.json(await tokens.tokenize((await readJson(request)) as TokenizeParams));
}

/** `POST /detokenize`. */
export async function detokenize(tokens: Pick<Tokens, 'detokenize'>, request: Request): Promise<Response> {
  return Response.json(await tokens.detokenize((await readJson(request)) as DetokenizeParams));
}
