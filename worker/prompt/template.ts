import { BadRequestError, ModelLoadError } from '../../src/errors.ts';
import { continuedText, type GivenPrompt, type PromptJob, type TemplateMessage } from '../../src/protocol.ts';
import { BoundedTemplate, TemplateLimitError } from './bounded-template.ts';
import { formMessages, type MessageForm, messageForm } from './messages.ts';
import { type TurnHeader, turnHeader, type WrittenOutputs } from './outputs.ts';
import { SpellingMarks } from './spellings.ts';
import type { PromptTokenizer } from './tokenizer.ts';

export interface RenderedPrompt {
  text: string;
  ids: Uint32Array;
  /** What stands before the answer; `null` where answers can't be found again. */
  header: TurnHeader | null;
}

/** Variables that the renderer sets itself; a request must not replace them. */
const reserved = ['messages', 'tools', 'add_generation_prompt'];
const specialTokenNames = [
  'bos_token',
  'eos_token',
  'unk_token',
  'sep_token',
  'pad_token',
  'cls_token',
  'mask_token',
];

/** Turns a conversation into the ids that the model reads. */
export class ChatTemplate {
  /** The source of the default template. */
  readonly source: string;
  readonly #sourceWithTools: string;
  readonly #tokenizer: PromptTokenizer;
  readonly #default: BoundedTemplate;
  /** Some models have a second template for requests with tools. */
  readonly #withTools: BoundedTemplate;
  readonly #forms: { standard: MessageForm; withTools: MessageForm };
  readonly #specialTokens: Record<string, string> = {};
  readonly #written: WrittenOutputs | null;

  /**
   * @param tokenizerConfig the content of `tokenizer_config.json`
   * @param templateFile the content of `chat_template.jinja`, which comes before the one in the configuration
   * @param written answers whose ids prompts take over; `null`: all text is encoded anew
   * @throws ModelLoadError when there is no template or it can't be parsed
   */
  constructor(
    tokenizer: PromptTokenizer,
    tokenizerConfig: Record<string, unknown>,
    templateFile: string | null,
    written: WrittenOutputs | null = null,
  ) {
    this.#tokenizer = tokenizer;
    this.#written = written;
    const sources = templateSources(tokenizerConfig.chat_template, templateFile);
    this.source = sources.standard;
    this.#sourceWithTools = sources.withTools ?? sources.standard;
    this.#default = parse(sources.standard);
    this.#withTools = sources.withTools === null ? this.#default : parse(sources.withTools);
    this.#forms = {
      standard: messageForm(sources.standard),
      withTools: messageForm(sources.withTools ?? sources.standard),
    };
    for (const name of specialTokenNames) {
      const content = tokenContent(tokenizerConfig[name]);
      if (content !== null) this.#specialTokens[name] = content;
    }
  }

  /**
   * Renders and tokenizes, up to where the model goes on. Special tokens that people's strings spell become
   * ordinary tokens. So do those in the calls that the assistant made, and control tokens in what it said and
   * thought: they can only have been spelled. Its other markup stays, for templates that take messages apart at it.
   *
   * @throws BadRequestError when the template refuses the conversation
   */
  render(job: PromptJob): RenderedPrompt {
    if (job.prompt) return this.#given(job.prompt);
    for (const name of reserved) {
      if (Object.hasOwn(job.templateArguments, name)) {
        throw new BadRequestError(`chat_template_kwargs must not set ${name}.`, {
          param: `chat_template_kwargs.${name}`,
          code: 'invalid_value',
        });
      }
    }
    const marks = new SpellingMarks(
      this.#tokenizer.added,
      job.tools === null ? this.source : this.#sourceWithTools,
      JSON.stringify([job.messages, job.tools, job.templateArguments]),
    );
    const { promptEnd = 'turn' } = job;
    const continued = continuedText(promptEnd);
    const end = continued && marks.place();
    const given = continued && end ? withEnd(job.messages, continued, end) : job.messages;
    const messages = given.map((message) => {
      const parsed = withParsedArguments(message);
      return message.role === 'assistant' ? withMarks(parsed, marks) : allMarked(parsed, marks);
    });
    const { standard, withTools } = this.#forms;
    const variables = {
      ...this.#specialTokens,
      ...marks.mark(job.templateArguments),
      // Tags that are put around reasoning here are none that somebody spelled.
      messages: formMessages(messages, job.tools === null ? standard : withTools),
      tools: job.tools === null ? null : marks.markPieces(job.tools),
      add_generation_prompt: promptEnd === 'turn',
    };
    const template = job.tools === null ? this.#default : this.#withTools;
    let rendered: string;
    try {
      rendered = template.render(variables);
    } catch (cause) {
      if (cause instanceof TemplateLimitError) {
        throw new BadRequestError(
          `The model's chat template takes too much: ${cause.message}. Send a shorter conversation; where that is short already, chat_template.jinja or tokenizer_config.json of the model is at fault.`,
          { param: 'messages', code: 'chat_template_limit', cause },
        );
      }
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new BadRequestError(`The model's chat template refuses this conversation: ${reason}`, {
        param: 'messages',
        code: 'chat_template_error',
        cause,
      });
    }
    if (continued && end) rendered = upTo(rendered, end, continued);
    const sections = marks.split(rendered);
    const recalled = this.#written?.recall(sections) ?? sections;
    const isPlain = recalled === sections && !marks.any;
    const ids = isPlain ? this.#tokenizer.encode(rendered) : this.#tokenizer.encodeSections(recalled);
    if (ids.length === 0) {
      throw new BadRequestError('The rendered prompt is empty: send at least one message with text.', {
        param: 'messages',
        code: 'empty_prompt',
      });
    }
    return { text: marks.strip(rendered), ids: Uint32Array.from(ids), header: turnHeader(sections) };
  }

  #given(prompt: GivenPrompt): RenderedPrompt {
    const isText = 'text' in prompt;
    const ids = isText ? this.#tokenizer.encode(prompt.text, prompt.addSpecialTokens) : prompt.ids;
    return { text: isText ? prompt.text : '', ids: Uint32Array.from(ids), header: null };
  }

  /**
   * Remembers what the model wrote behind a prompt, so that later prompts hold the same ids.
   *
   * @param ids the answer as far as it counts, without the token that ended the turn
   */
  remember({ header }: Pick<RenderedPrompt, 'header'>, ids: readonly number[]): void {
    if (header) this.#written?.add(header, ids);
  }
}

/** The messages with a mark at the end of the last one's text. */
function withEnd(
  messages: readonly TemplateMessage[],
  field: 'content' | 'reasoning',
  end: string,
): TemplateMessage[] {
  const last = messages.at(-1)!;
  return [...messages.slice(0, -1), { ...last, [field]: (last[field] ?? '') + end }];
}

function upTo(rendered: string, end: string, field: 'content' | 'reasoning'): string {
  const at = rendered.lastIndexOf(end);
  if (at >= 0) return rendered.slice(0, at);
  throw new BadRequestError(
    `The model's chat template leaves the ${field} of the last message out, so that it can't be continued.`,
    { param: 'continue_final_message', code: 'chat_template_error' },
  );
}

/** Roles are no text of people, and are pieces of tokens in many templates: `'<|' + role + '|>'`. */
function allMarked(message: TemplateMessage, marks: SpellingMarks): TemplateMessage {
  const fields = Object.entries(message).map(([name, value]) => [
    name,
    name === 'role' ? value : marks.markPieces(value),
  ]);
  return Object.fromEntries(fields) as TemplateMessage;
}

function withMarks(message: TemplateMessage, marks: SpellingMarks): TemplateMessage {
  const marked = { ...message };
  for (const field of ['content', 'reasoning'] as const) {
    const text = message[field];
    if (typeof text === 'string') marked[field] = marks.markControls(text);
  }
  if (message.tool_calls) marked.tool_calls = marks.markPieces(message.tool_calls);
  return marked;
}

function parse(source: string): BoundedTemplate {
  try {
    return new BoundedTemplate(source);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ModelLoadError(`The model's chat template can't be parsed: ${reason}`, {
      cause,
      code: 'chat_template_invalid',
    });
  }
}

function templateSources(
  configured: unknown,
  file: string | null,
): { standard: string; withTools: string | null } {
  if (file !== null) return { standard: file, withTools: null };
  if (typeof configured === 'string') return { standard: configured, withTools: null };
  if (Array.isArray(configured)) {
    const named = new Map<string, string>();
    for (const entry of configured as { name?: unknown; template?: unknown }[]) {
      if (typeof entry?.name === 'string' && typeof entry.template === 'string') {
        named.set(entry.name, entry.template);
      }
    }
    const withTools = named.get('tool_use') ?? null;
    const standard = named.get('default') ?? withTools;
    if (standard !== null) return { standard, withTools };
  }
  throw new ModelLoadError(
    'The model has no chat template (neither chat_template.jinja nor chat_template in tokenizer_config.json): it is not a chat model.',
    { code: 'chat_template_missing' },
  );
}

function tokenContent(token: unknown): string | null {
  if (typeof token === 'string') return token;
  if (
    typeof token === 'object' &&
    token !== null &&
    'content' in token &&
    typeof token.content === 'string'
  ) {
    return token.content;
  }
  return null;
}

/** Templates iterate over arguments, so JSON text is parsed; what does not parse stays text. */
function withParsedArguments(message: TemplateMessage): TemplateMessage {
  if (!message.tool_calls) return message;
  return {
    ...message,
    tool_calls: message.tool_calls.map((call) => {
      if (typeof call.function.arguments !== 'string') return call;
      try {
        const value: unknown = JSON.parse(call.function.arguments);
        if (typeof value !== 'object' || value === null || Array.isArray(value)) return call;
        return { ...call, function: { ...call.function, arguments: value as Record<string, unknown> } };
      } catch {
        return call;
      }
    }),
  };
}
