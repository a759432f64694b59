/** What an answer consists of, in the order in which it happened, and the messages that a model reads of it. */
import type { ChatCompletionMessageParam } from '../../src/index.ts';

export interface ReasoningPart {
  kind: 'reasoning';
  round: number;
  text: string;
  /** How long the thought took; `null` while it goes on. */
  milliseconds: number | null;
}

export interface ContentPart {
  kind: 'content';
  round: number;
  text: string;
}

export type CallState =
  /** The model writes its arguments. */
  | 'writing'
  /** Whole, and not yet run. */
  | 'waiting'
  /** A person is asked whether it may run. */
  | 'asking'
  | 'running'
  | 'done'
  | 'failed'
  /** The answer was cut inside of it: it is never run. */
  | 'cut'
  /** Whole, but its answer was cut or stopped: it was not run. */
  | 'dropped';

export interface CallPart {
  kind: 'call';
  round: number;
  id: string;
  name: string;
  /** JSON text. */
  arguments: string;
  state: CallState;
  /** What the model reads; `null` before the call has ended. */
  result: string | null;
  milliseconds: number | null;
}

export type Part = ReasoningPart | ContentPart | CallPart;

/** Why an answer is over. */
export type AnswerEnd =
  | 'answered'
  /** A limit of tokens cut it. */
  | 'length'
  /** The model ended its turn inside a call. */
  | 'incomplete'
  /** The last allowed step called tools. */
  | 'rounds'
  | 'stopped'
  | 'failed';

/** The conversation's messages of one answer: whole rounds, and the text of one that was cut. */
export function answerMessages(parts: readonly Part[]): ChatCompletionMessageParam[] {
  const messages: ChatCompletionMessageParam[] = [];
  for (const round of new Set(parts.map((part) => part.round))) {
    const inRound = parts.filter((part) => part.round === round);
    const text = (kind: 'reasoning' | 'content') =>
      inRound.map((part) => (part.kind === kind ? part.text : '')).join('');
    const calls = inRound.filter((part) => part.kind === 'call' && part.result !== null) as CallPart[];
    const reasoning = text('reasoning');
    const content = text('content');
    if (calls.length === 0 && content === '' && reasoning === '') continue;
    messages.push({
      role: 'assistant',
      content: content === '' && calls.length > 0 ? null : content,
      ...(reasoning !== '' && { reasoning }),
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, name, arguments: given }) => ({
          id,
          type: 'function' as const,
          function: { name, arguments: given },
        })),
      }),
    });
    for (const { id, result } of calls) {
      messages.push({ role: 'tool', tool_call_id: id, content: result ?? '' });
    }
  }
  return messages;
}

/** Whether the model can go on inside the answer's last text, as it was cut there. */
export function canContinueText(parts: readonly Part[], end: AnswerEnd): boolean {
  const last = parts.at(-1);
  if (end !== 'length' && end !== 'stopped') return false;
  return last !== undefined && last.kind !== 'call' && last.text.trim() !== '';
}

/** The parts without a last round that was cut and can't be gone on with: it has to be written anew. */
export function withoutBrokenRound(parts: readonly Part[]): Part[] {
  const last = parts.at(-1)?.round;
  const hasResult = parts.some((part) => part.round === last && part.kind === 'call' && part.result !== null);
  return hasResult ? [...parts] : parts.filter(({ round }) => round !== last);
}

/** The text of an answer as people copy it: its content alone. */
export function answerText(parts: readonly Part[]): string {
  return parts
    .flatMap((part) => (part.kind === 'content' ? part.text.trim() : []))
    .filter((text) => text !== '')
    .join('\n\n');
}
