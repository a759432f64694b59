import { computed, signal } from '@preact/signals';
import { type Engine, RequestAbortedError } from '../../../src/index.ts';
import { announce } from '../../components/announcer.tsx';
import { messageOf } from '../../conversation/run-answer.ts';
import { formExamples } from './examples.ts';
import { fieldsOf, type JsonSchema, readSchema, violations } from './form-schema.ts';
import { partialJson } from './partial-json.ts';

const maximumTokens = 400;

/** Asks for an object of a schema, and fills a form with what has come of it. */
export class FormStore {
  readonly schemaText = signal(JSON.stringify(formExamples[0]!.schema, null, 2));
  readonly prompt = signal(formExamples[0]!.prompt);
  readonly temperature = signal(0.7);
  /** The answer's text so far. */
  readonly text = signal('');
  readonly end = signal<'stop' | 'length' | 'stopped' | null>(null);
  readonly error = signal<string | null>(null);
  readonly running = computed(() => this.#run.value !== null);
  readonly #run = signal<AbortController | null>(null);
  /** The schema as it is written; an `Error` where it is none. */
  readonly schema = computed<JsonSchema | Error>(() => {
    try {
      return readSchema(this.schemaText.value);
    } catch (error) {
      return error as Error;
    }
  });
  /** The schema that the answer was asked for with. */
  readonly #asked = signal<JsonSchema | null>(null);
  readonly fields = computed(() => {
    const schema = this.#asked.value ?? this.schema.value;
    return schema instanceof Error ? [] : fieldsOf(schema);
  });
  readonly value = computed(() => partialJson(this.text.value));
  /** What breaks the schema in the answer that is whole; `null` before. */
  readonly violations = computed<string[] | null>(() => {
    const schema = this.#asked.value;
    if (this.end.value !== 'stop' || schema === null) return null;
    try {
      return violations(schema, JSON.parse(this.text.value));
    } catch (error) {
      return [messageOf(error)];
    }
  });

  stop(): void {
    this.#run.peek()?.abort();
  }

  /** Another schema: what came for the one before is gone. */
  setSchema(text: string): void {
    this.schemaText.value = text;
    if (this.running.value) return;
    this.#asked.value = null;
    this.text.value = '';
    this.end.value = null;
    this.error.value = null;
  }

  async fill(engine: Engine): Promise<void> {
    const schema = this.schema.value;
    if (this.#run.peek() || schema instanceof Error) return;
    const abort = new AbortController();
    this.#run.value = abort;
    this.#asked.value = schema;
    this.text.value = '';
    this.end.value = null;
    this.error.value = null;
    try {
      const stream = await engine.chat.completions.create(
        {
          messages: [{ role: 'user', content: this.prompt.value }],
          response_format: { type: 'json_schema', json_schema: { name: 'form', schema } },
          temperature: this.temperature.value,
          max_tokens: maximumTokens,
          chat_template_kwargs: { enable_thinking: false },
          stream: true,
        },
        { signal: abort.signal },
      );
      for await (const { choices } of stream) {
        const choice = choices[0];
        if (choice?.delta.content) this.text.value += choice.delta.content;
        if (choice?.finish_reason) this.end.value = choice.finish_reason === 'length' ? 'length' : 'stop';
      }
    } catch (error) {
      if (abort.signal.aborted || error instanceof RequestAbortedError) this.end.value = 'stopped';
      else this.error.value = messageOf(error);
    }
    this.#run.value = null;
    announce(
      this.violations.value?.length === 0 ? 'The form is filled, and valid.' : 'The answer has ended.',
    );
  }
}
