/** What the walks of a format went through. */
import type { ChatCompletionChoice } from '../../src/chat/types.ts';
import type { WalkRequest } from './request.ts';
import { keywordsOf } from './schemas.ts';

export class Coverage {
  /** Walks by mode. */
  readonly modes = new Map<string, number>();
  /** Calls by function. */
  readonly tools = new Map<string, number>();
  /** Walks with a call or content that was held to a schema with the keyword. */
  readonly keywords = new Map<string, number>();
  /** By function and property: whether it was written. */
  readonly #properties = new Map<string, boolean>();
  readonly contents = { reasoning: 0, content: 0, calls: 0, severalCalls: 0 };

  add({ mode, tools, content, isHeld }: WalkRequest, choice: ChatCompletionChoice): void {
    const { message } = choice;
    count(this.modes, `${mode.calls} / ${mode.start}`);
    const calls = message.tool_calls ?? [];
    if (message.reasoning) this.contents.reasoning++;
    if (message.content) this.contents.content++;
    if (calls.length > 0) this.contents.calls++;
    if (calls.length > 1) this.contents.severalCalls++;
    const keywords = new Set<string>();
    if (content && 'schema' in content && calls.length === 0) keywordsOf(content.schema, keywords);
    for (const { function: called } of calls) {
      count(this.tools, called.name);
      const tool = tools.find(({ name }) => name === called.name);
      if (!tool || !isHeld) continue;
      keywordsOf(tool.parameters, keywords);
      const written = Object.keys(JSON.parse(called.arguments) as object);
      for (const key of Object.keys((tool.parameters.properties as object | undefined) ?? {})) {
        const property = `${called.name}.${key}`;
        this.#properties.set(property, this.#properties.get(property) === true || written.includes(key));
      }
    }
    for (const keyword of keywords) count(this.keywords, keyword);
  }

  get properties(): { seen: number; written: number } {
    const all = [...this.#properties.values()];
    return { seen: all.length, written: all.filter(Boolean).length };
  }

  /** Lines for people. */
  lines(): string[] {
    const { seen, written } = this.properties;
    const { reasoning, content, calls, severalCalls } = this.contents;
    const list = (map: Map<string, number>) =>
      [...map]
        .sort((a, b) => b[1] - a[1])
        .map(([name, number]) => `${name} ${number}`)
        .join(', ');
    return [
      `walks with reasoning ${reasoning}, content ${content}, calls ${calls}, several calls ${severalCalls}`,
      `modes (${this.modes.size}): ${list(this.modes)}`,
      `calls: ${list(this.tools)}`,
      `properties: ${written} of ${seen} written`,
      `keywords: ${list(this.keywords)}`,
    ];
  }
}

function count(map: Map<string, number>, key: string): void {
  map.set(key, (map.get(key) ?? 0) + 1);
}
