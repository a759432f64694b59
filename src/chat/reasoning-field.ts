import type { ChatCompletionChunk } from './types.ts';

/**
 * Where an answer has its reasoning: in the field `reasoning`, in `reasoning_content`, in both, or in the content
 * between `<think>` tags.
 */
export type ReasoningField = 'reasoning' | 'reasoning_content' | 'both' | 'content';

export const reasoningFields: readonly ReasoningField[] = [
  'reasoning',
  'reasoning_content',
  'both',
  'content',
];

const opener = '<think>\n';
const closer = '\n</think>\n\n';

/** Puts the reasoning of an answer where its reader looks for it. Given chunks have it in `reasoning`. */
export class ReasoningPlacement {
  readonly #field: ReasoningField;
  /** Choices whose block of reasoning is open in the content. */
  readonly #open = new Set<number>();

  constructor(field: ReasoningField) {
    this.#field = field;
  }

  chunks(chunks: readonly ChatCompletionChunk[]): ChatCompletionChunk[] {
    return chunks.flatMap((chunk) =>
      this.#field === 'content' ? this.#tagged(chunk) : this.#renamed(chunk),
    );
  }

  #renamed(chunk: ChatCompletionChunk): ChatCompletionChunk {
    const choices = chunk.choices.map((choice) => {
      const { reasoning, ...delta } = choice.delta;
      // The first delta names the field: answers have it without any reasoning, too.
      if (delta.role) return { ...choice, delta: { ...delta, reasoning_content: null } };
      if (reasoning === undefined) return choice;
      const kept = this.#field === 'both' ? { reasoning } : {};
      return { ...choice, delta: { ...delta, ...kept, reasoning_content: reasoning } };
    });
    return { ...chunk, choices };
  }

  /** A block stays open where nothing comes behind it. */
  #tagged(chunk: ChatCompletionChunk): ChatCompletionChunk[] {
    const before: ChatCompletionChunk[] = [];
    const choices = chunk.choices.map((choice) => {
      const { index } = choice;
      const { reasoning, ...delta } = choice.delta;
      const isOpen = this.#open.has(index);
      if (typeof reasoning === 'string') {
        this.#open.add(index);
        return { ...choice, delta: { ...delta, content: (isOpen ? '' : opener) + reasoning } };
      }
      if (!isOpen || (!delta.content && !delta.tool_calls)) return choice;
      this.#open.delete(index);
      if (delta.content) return { ...choice, delta: { ...delta, content: closer + delta.content } };
      // A chunk holds one kind.
      before.push({ ...chunk, choices: [{ index, delta: { content: closer }, finish_reason: null }] });
      return choice;
    });
    return [...before, { ...chunk, choices }];
  }
}

/** A content as `content` has it, taken apart; `null` where no block of reasoning stands at its beginning. */
export function untagged(content: string): { reasoning: string; content: string } | null {
  const match = /^\s*<think>\n?([\s\S]*?)(?:\n?<\/think>\s*([\s\S]*))?$/.exec(content);
  return match && { reasoning: match[1]!, content: match[2] ?? '' };
}
