import { useEffect, useRef, useState } from 'preact/hooks';
import { AnswerFigures, AnswerView } from '../../components/answer-view.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { IconButton } from '../../components/icon-button.tsx';
import { type Exchange, siblings } from '../../conversation/conversation.ts';
import { answerText } from '../../conversation/parts.ts';
import type { ChatStore } from './chat-store.ts';

export interface ExchangeActions {
  askInstead(exchange: Exchange, question: string): void;
  resume(exchange: Exchange): void;
  show(exchange: Exchange): void;
  newChat(): void;
}

interface ExchangeViewProps {
  store: ChatStore;
  exchange: Exchange;
  isLast: boolean;
  remarkOf(tool: string): string | null;
  /** `null` while the model can't be asked. */
  actions: ExchangeActions | null;
}

/** A question with its answer, and what can be done with both. */
export function ExchangeView({ store, exchange, isLast, remarkOf, actions }: ExchangeViewProps) {
  const [editing, setEditing] = useState(false);
  const answer = store.live(exchange.answer);
  const branches = siblings(store.current.value, exchange);
  return (
    <div class="exchange">
      {editing ? (
        <QuestionEditor
          question={exchange.question}
          onCancel={() => setEditing(false)}
          onSend={(question) => {
            setEditing(false);
            actions?.askInstead(exchange, question);
          }}
        />
      ) : (
        <div class="question-row">
          <p class="question" dir="auto">
            {exchange.question}
          </p>
          <div class="row-actions">
            <BranchSwitch branches={branches} exchange={exchange} actions={actions} />
            <CopyButton text={() => exchange.question} label="Copy the question" />
            <IconButton
              icon="edit"
              label="Edit the question"
              disabled={!actions}
              onClick={() => setEditing(true)}
            />
          </div>
        </div>
      )}
      <AnswerView answer={answer} remarkOf={remarkOf}>
        <AnswerActions {...{ store, exchange, isLast, actions }} />
        <div class="row-actions">
          <CopyButton text={() => answerText(exchange.answer.parts)} label="Copy the answer" />
          <IconButton
            icon="refresh"
            label="Answer again"
            disabled={!actions}
            onClick={() => actions?.askInstead(exchange, exchange.question)}
          />
          <AnswerFigures answer={answer} />
        </div>
      </AnswerView>
    </div>
  );
}

/** The ways on with an answer that is not whole. */
function AnswerActions({ store, exchange, isLast, actions }: Omit<ExchangeViewProps, 'remarkOf'>) {
  const { end } = exchange.answer;
  if (!isLast || end === null || end === 'answered') return null;
  const resume = {
    length: 'Continue',
    incomplete: 'Continue',
    rounds: 'Go on',
    stopped: 'Continue',
    failed: 'Try again',
  };
  return (
    <div class="actions">
      {store.tooLong.value ? (
        <button type="button" class="small" onClick={() => actions?.newChat()}>
          New chat
        </button>
      ) : (
        <button type="button" class="small" disabled={!actions} onClick={() => actions?.resume(exchange)}>
          {resume[end]}
        </button>
      )}
    </div>
  );
}

function BranchSwitch({
  branches,
  exchange,
  actions,
}: Pick<ExchangeViewProps, 'exchange' | 'actions'> & { branches: Exchange[] }) {
  if (branches.length < 2) return null;
  const at = branches.indexOf(exchange);
  const to = (index: number) => {
    const branch = branches[index];
    if (branch) actions?.show(branch);
  };
  return (
    <span class="branches" role="group" aria-label="Branches">
      <IconButton
        icon="left"
        label="Branch before"
        disabled={!actions || at === 0}
        onClick={() => to(at - 1)}
      />
      <span>{`${at + 1} / ${branches.length}`}</span>
      <IconButton
        icon="right"
        label="Next branch"
        disabled={!actions || at === branches.length - 1}
        onClick={() => to(at + 1)}
      />
    </span>
  );
}

interface QuestionEditorProps {
  question: string;
  onSend(question: string): void;
  onCancel(): void;
}

function QuestionEditor({ question, onSend, onCancel }: QuestionEditorProps) {
  const [text, setText] = useState(question);
  const input = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    input.current?.focus();
    input.current?.setSelectionRange(question.length, question.length);
  }, [question]);
  return (
    <form
      class="editor"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') onSend(text.trim());
      }}
    >
      <textarea
        ref={input}
        rows={Math.min(8, text.split('\n').length + 1)}
        value={text}
        aria-label="Edit the question"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') {
            event.preventDefault();
            onCancel();
          }
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
      />
      <div class="actions">
        <button type="submit" class="small primary">
          Ask
        </button>
        <button type="button" class="small" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
