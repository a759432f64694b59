/** Which of two engines answers. */
import { isObject } from '../chat/fields.ts';
import type { ChatCompletionCreateParams } from '../chat/types.ts';
import type { EngineState } from '../engine/engine.ts';
import { BadRequestError, ModelNotFoundError, RequestAbortedError, type TokenprismError } from '../errors.ts';
import type { RemoteEngineState } from './engine.ts';

export type EngineSide = 'local' | 'remote';

/** What a policy decides on. */
export interface ChoiceFacts {
  body: ChatCompletionCreateParams;
  /** `null` while the local engine loads, and where there is none. */
  local: EngineState | null;
  /** Why there is no local engine; `null` where there is one, or may be. */
  localError: TokenprismError | null;
  remote: RemoteEngineState;
  /** Set when the other engine has failed before its answer began: what with. */
  failed: { side: EngineSide; error: TokenprismError } | null;
}

/** Chooses the engine for a request; `null` after a failure: that failure is the answer. */
export type EngineChoice = (facts: ChoiceFacts) => EngineSide | null | Promise<EngineSide | null>;

/**
 * The default: a request goes to the engine whose model it names. Without a name to the local engine, once that is
 * loaded and as long as it works, else to the remote one. The other engine takes over where the first fails before its
 * answer begins for reasons that the other need not share: the local engine for a conversation that is longer than its
 * context, for what it does not support, for a lost device or a crash; the remote one for a server that can't be reached
 * or takes no more requests.
 */
export function preferLocal({ body, local, remote, failed }: ChoiceFacts): EngineSide | null {
  const named = isObject(body) && typeof body.model === 'string' ? body.model : null;
  const isLocal = local !== null && named === local.model.id && named !== remote.model.id;
  const canLocal = local !== null && (local.status === 'ready' || local.status === 'recovering');
  if (!failed) {
    if (named !== null && !isLocal) return 'remote';
    return canLocal ? 'local' : 'remote';
  }
  const other = failed.side === 'local' ? 'remote' : 'local';
  if (!maySucceedElsewhere(failed.error)) return null;
  if (other === 'remote') return 'remote';
  return canLocal && (named === null || isLocal) ? 'local' : null;
}

/** Codes of requests that are good, but not for every engine. */
const ofOneEngine = ['context_length_exceeded', 'unsupported_parameter', 'unsupported_value'];

function maySucceedElsewhere(error: TokenprismError): boolean {
  if (error instanceof RequestAbortedError || error instanceof ModelNotFoundError) return false;
  return !(error instanceof BadRequestError) || ofOneEngine.includes(error.code ?? '');
}
