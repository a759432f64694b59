import { badValue } from '../chat/fields.ts';
import type { FormatReport } from '../chat/format.ts';
import { prepareRequest } from '../chat/request.ts';
import { type CheckedOptions, checkOptions } from '../engine/options.ts';
import { BadRequestError } from '../errors.ts';
import type { Constraint } from '../protocol.ts';
import { fieldsOfServer, fieldsReadHere } from './client-fields.ts';
import type { Dialect, RemoteRequest, RequestSetting } from './dialect.ts';
import type { CheckedRemoteOptions, ClientParseOptions } from './options.ts';
import { parsersOf } from './output-parsers.ts';
import { PromptRenderer, type PromptSession } from './prompts.ts';
import { readRequest } from './request-fields.ts';
import { TextAnswer } from './text-answer.ts';

/**
 * Prompts are rendered and output is split here; the server completes the prompt's token ids at `/completions`, and
 * needs neither template nor parsers.
 */
class ClientParse implements Dialect {
  readonly #options: CheckedRemoteOptions;
  readonly #renderer: PromptRenderer;
  #format: FormatReport;

  constructor(options: CheckedRemoteOptions, renderer: PromptRenderer, format: FormatReport) {
    this.#options = options;
    this.#renderer = renderer;
    this.#format = format;
  }

  get format(): FormatReport {
    return this.#format;
  }

  async prepare(
    given: unknown,
    { model, incompleteToolCalls, signal }: RequestSetting,
  ): Promise<RemoteRequest> {
    const setting = this.#options.reasoningField;
    const { body, choices, stream, includeUsage, reasoningField, placement } = readRequest(given, setting);
    const session = await this.#renderer.session();
    const own = fieldsReadHere(body);
    const request = prepareRequest(
      { ...own, reasoning_field: reasoningField },
      this.#context(session, model),
    );
    const { job, stop, echo, returnTokenIds, parallelToolCalls, deliverCalls, deliverReasoning } = request;
    const prompt = await this.#renderer.render(
      {
        messages: job.messages,
        tools: job.tools,
        templateArguments: job.templateArguments,
        promptEnd: job.promptEnd,
      },
      signal,
    );
    const createParser = await parsersOf(session, request, prompt);
    checkConstraint(job.constraint ?? null, () => {
      const mayThink = session.format.report.reasoning !== null && !saysNotToThink(job.templateArguments);
      return mayThink || createParser('text').inReasoning;
    });
    const { eosTokenIds } = session.model;
    const ownEnds = job.ignoreEos ? [] : eosTokenIds;
    return {
      path: '/completions',
      body: {
        ...fieldsOfServer(body),
        model,
        prompt: Array.from(prompt.ids),
        // Without a word on it, this interface ends answers after 16 tokens; with null, where the context ends.
        max_tokens: job.maxTokens,
        stream: true,
        // Each chunk tells how many tokens have come, for answers that are left before their end.
        stream_options: { include_usage: true, continuous_usage_stats: true },
        // Markers are control tokens in some families; the prompt has all that it begins with.
        skip_special_tokens: false,
        spaces_between_special_tokens: false,
        add_special_tokens: false,
        return_token_ids: true,
        ...(typeof job.logprobs === 'number' && {
          logprobs: job.logprobs,
          return_tokens_as_token_ids: true,
        }),
      },
      stream,
      reader: new TextAnswer({
        choices,
        stop,
        minTokens: job.minTokens,
        stopTokenIds: (job.stopTokenIds ?? []).filter((id) => !ownEnds.includes(id)),
        parallelToolCalls,
        deliverCalls,
        deliverReasoning,
        incompleteToolCalls,
        echo,
        promptTokenIds: prompt.ids,
        vocabulary: session.vocabulary,
        returnTokenIds,
        logprobs: job.logprobs ?? null,
        includeUsage,
        createParser,
      }),
      placement,
    };
  }

  #context({ model, vocabulary, format }: PromptSession, modelId: string) {
    this.#format = format.report;
    const { reasoning, tools } = format.report;
    return {
      modelId,
      vocabularySize: Math.max(model.vocabularySize, vocabulary.size),
      toolCalling: this.#options.client.toolCalling ?? true,
      toolsUnavailable: format.toolsUnavailable,
      format: { reasoning, tools },
      toolStrictness: 'auto' as const,
      strictToolCalling: true,
    };
  }

  close(): Promise<void> {
    return this.#renderer.close();
  }
}

/** Loads tokenizer and template. Rejects as `createEngine` does. */
export async function createClientParse(options: CheckedRemoteOptions): Promise<Dialect> {
  const { tokenizer, ...client } = options.client;
  const isRepository = options.model !== null && /^[\w.-]+\/[\w.-]+$/.test(options.model);
  const model = tokenizer ?? (isRepository ? options.model! : undefined);
  if (model === undefined) {
    throw new BadRequestError(
      "parse: 'client' needs 'tokenizer': a Hub repository or the URL of a folder with tokenizer.json and the chat template.",
      { param: 'tokenizer', code: 'missing_required_parameter' },
    );
  }
  const renderer = new PromptRenderer(rendererOptions(client, model));
  const { format } = await renderer.session();
  return new ClientParse(options, renderer, format.report);
}

function rendererOptions(client: Omit<ClientParseOptions, 'tokenizer'>, model: string): CheckedOptions {
  try {
    return checkOptions({ ...client, model, backend: { kind: 'scripted', turns: [{ text: '' }] } });
  } catch (error) {
    if (!(error instanceof BadRequestError) || error.param !== 'model') throw error;
    const { message, code } = error;
    throw new BadRequestError(message.replace("'model'", "'tokenizer'"), {
      param: 'tokenizer',
      code,
      cause: error,
    });
  }
}

/**
 * The server's grammars hold an answer from its first token on: good for a content that nothing comes before.
 *
 * @param mayThink whether reasoning may come before the content
 */
function checkConstraint(constraint: Constraint | null, mayThink: () => boolean): void {
  if (!constraint) return;
  const { calls, content, thinkingTokenBudget } = constraint;
  const instead = "or start the server with its parsers and use parse: 'server'";
  if (thinkingTokenBudget !== null) {
    throw badValue(
      'thinking_token_budget',
      `'thinking_token_budget' is not held with parse: 'client'; remove it, ${instead}.`,
      'unsupported_parameter',
    );
  }
  if (calls) {
    const param = calls.choice === 'auto' ? 'tools' : 'tool_choice';
    const what = calls.choice === 'auto' ? "'strict' tools are" : "'tool_choice' is";
    throw badValue(
      param,
      `${what} not held with parse: 'client'; remove it, ${instead}.`,
      'unsupported_value',
    );
  }
  if (content && mayThink()) {
    throw badValue(
      content.path.split('.')[0]!,
      `'${content.path}' would hold the model's reasoning as well, as the server does not know where it ends; ` +
        `set chat_template_kwargs { enable_thinking: false } where the model has that switch, ${instead}.`,
      'unsupported_parameter',
    );
  }
}

const saysNotToThink = ({ enable_thinking, thinking }: Record<string, unknown>) =>
  enable_thinking === false || thinking === false;
