/** Models on OpenAI-compatible servers, such as vLLM, behind the interface of those that run here. */
export type { ChatEngine } from './chat-engine.ts';
export type {
  RemoteCompletions,
  RemoteCreateParams,
  RemoteCreateParamsNonStreaming,
  RemoteCreateParamsStreaming,
} from './completions.ts';
export { createRemoteEngine, type RemoteEngine, type RemoteEngineState } from './engine.ts';
export {
  createHybridEngine,
  type HybridEngine,
  type HybridEngineOptions,
  type HybridEngineState,
} from './hybrid.ts';
export type { HybridCompletions } from './hybrid-completions.ts';
export type { RemoteModel, RemoteModels } from './models.ts';
export type { RemoteEngineOptions } from './options.ts';
export { type ChoiceFacts, type EngineChoice, type EngineSide, preferLocal } from './policy.ts';
export type {
  RemoteTextCompletions,
  RemoteTextCreateParams,
  RemoteTextCreateParamsNonStreaming,
  RemoteTextCreateParamsStreaming,
} from './text-completions.ts';
