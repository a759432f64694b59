/** Tokenprism: reasoning and tool-calling language models in the browser, behind OpenAI's chat interface. */
export { CompletionCollector, collectCompletion } from './chat/collector.ts';
export type { Completions } from './chat/completions.ts';
export type { ToolStrictness } from './chat/constraint.ts';
export type { FormatReport } from './chat/format.ts';
export type { Models } from './chat/models.ts';
export {
  createOutputParser,
  type OutputEnd,
  type OutputParser,
  type OutputParserOptions,
} from './chat/output-parser.ts';
export type { ReasoningField } from './chat/reasoning-field.ts';
export { ChatCompletionStream } from './chat/stream.ts';
export type { TextCompletionStream } from './chat/text-stream.ts';
export type {
  TextCompletion,
  TextCompletionChoice,
  TextCompletionCreateParams,
  TextLogprobs,
} from './chat/text-types.ts';
export type { AppliedTemplate, DetokenizeParams, Tokenized, TokenizeParams } from './chat/tokens.ts';
export type {
  AssistantMessageParam,
  ChatCompletion,
  ChatCompletionChoice,
  ChatCompletionChunk,
  ChatCompletionChunkChoice,
  ChatCompletionCreateParams,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionDelta,
  ChatCompletionMessage,
  ChatCompletionMessageParam,
  ChatCompletionTool,
  ChatCompletionToolCall,
  CompletionUsage,
  IncompleteToolCalls,
  RequestDetails,
  RequestOptions,
  RequestProgress,
  ServedChunk,
  StructuredOutputs,
} from './chat/types.ts';
export { deleteCachedModels } from './engine/cached-models.ts';
export type { GpuMemory } from './engine/connection.ts';
export { createEngine, type Engine, type EngineState, type EngineStatus } from './engine/engine.ts';
export type { EngineOptions, EngineProgress, LocalModel } from './engine/options.ts';
export type { WebLlmOptions } from './engine/web-llm-options.ts';
export {
  AuthenticationError,
  BadRequestError,
  DeviceLostError,
  EngineClosedError,
  EngineUnavailableError,
  InvalidLogitsError,
  ModelLoadError,
  ModelNotFoundError,
  PermissionDeniedError,
  RateLimitError,
  RemoteServerError,
  RemoteTimeoutError,
  RequestAbortedError,
  SchemaViolationError,
  ServiceWorkerError,
  StorageQuotaError,
  TokenprismError,
  WebGPUUnavailableError,
  WorkerError,
} from './errors.ts';
export { formatNames } from './formats/index.ts';
export type {
  CacheChoice,
  DeviceChoice,
  DeviceReport,
  Dtype,
  LoadTimings,
  ModelReport,
  StorageReport,
  Timings,
} from './protocol.ts';
export { runTools, type ToolRun, tool } from './tool-loop/run-tools.ts';
export type {
  RunnableTool,
  RunToolsOptions,
  RunToolsParams,
  StandardSchema,
  ToolContext,
  ToolRunEnd,
  ToolRunEngine,
  ToolRunEvent,
  ToolRunResult,
  ToolRunUsage,
} from './tool-loop/types.ts';
