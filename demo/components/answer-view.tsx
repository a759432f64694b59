import type { ComponentChildren } from 'preact';
import type { LiveAnswer } from '../conversation/answer.ts';
import type { AnswerEnd, Part } from '../conversation/parts.ts';
import { Markdown } from './markdown/markdown.tsx';
import { ThinkingPanel } from './thinking-panel.tsx';
import { ToolCard } from './tool-card.tsx';

const endings: Record<AnswerEnd, string | null> = {
  answered: null,
  length: 'Cut at the token limit.',
  incomplete: 'The model ended in the middle of a tool call.',
  rounds: 'Out of steps: the model still called tools in the last one.',
  stopped: 'Stopped.',
  failed: null,
};

interface AnswerViewProps {
  answer: LiveAnswer;
  /** What people should know of a tool's results. */
  remarkOf(tool: string): string | null;
  /** Answers the question whether a call may run. */
  onDecide?: (id: string, allowed: boolean) => void;
  /** What can be done with the answer, when it is over. */
  children?: ComponentChildren;
}

/** One answer: thoughts, tool calls and text in the order in which they happened, over all rounds. */
export function AnswerView({ answer, remarkOf, onDecide, children }: AnswerViewProps) {
  // The record is changed in place: what is made of it has to be told that it is another one.
  const revision = answer.revision.value;
  const { parts, end, error } = answer.record;
  const running = end === null;
  const pending = answer.pending.value;
  return (
    <article class="answer" aria-label="Answer" aria-busy={running}>
      {parts.map((part, index) => (
        <PartView
          // Parts are only ever added.
          key={index}
          part={part}
          revision={revision}
          stopped={end !== null && end !== 'answered' && index === parts.length - 1}
          done={!running || index < parts.length - 1}
          remarkOf={remarkOf}
          onDecide={onDecide}
        />
      ))}
      {running && pending !== null && (
        <p class="pending">
          <span class="dots" aria-hidden="true" />
          {pending}
        </p>
      )}
      {end !== null && endings[end] !== null && <p class="note">{endings[end]}</p>}
      {end === 'answered' && parts.length === 0 && <p class="note">The model gave an empty answer.</p>}
      {error !== null && (
        <div class="error" role="alert">
          <p>{error}</p>
        </div>
      )}
      {!running && children}
    </article>
  );
}

interface PartViewProps extends Pick<AnswerViewProps, 'remarkOf' | 'onDecide'> {
  part: Part;
  revision: number;
  stopped: boolean;
  done: boolean;
}

function PartView({ part, stopped, done, remarkOf, onDecide }: PartViewProps) {
  switch (part.kind) {
    case 'reasoning':
      return <ThinkingPanel text={part.text} milliseconds={part.milliseconds} stopped={stopped} />;
    case 'content':
      return <Markdown text={part.text} done={done} />;
    case 'call':
      return (
        <ToolCard
          name={part.name}
          arguments={part.arguments}
          state={part.state}
          result={part.result}
          milliseconds={part.milliseconds}
          remark={remarkOf(part.name)}
          onDecide={part.state === 'asking' ? (allowed) => onDecide?.(part.id, allowed) : null}
        />
      );
  }
}

/** How fast the answer was, where that is known. */
export function AnswerFigures({ answer }: { answer: LiveAnswer }) {
  const { tokens, tokensPerSecond } = answer.record;
  if (answer.revision.value === 0 && answer.running) return null;
  if (tokens === 0) return null;
  const speed = tokensPerSecond === null ? '' : ` · ${formatSpeed(tokensPerSecond)} tokens/s`;
  return <span class="figures">{`${tokens.toLocaleString('en')} tokens${speed}`}</span>;
}

export function formatSpeed(tokensPerSecond: number): string {
  return tokensPerSecond >= 20 ? tokensPerSecond.toFixed(0) : tokensPerSecond.toFixed(1);
}
