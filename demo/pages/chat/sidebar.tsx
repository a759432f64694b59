import { useEffect, useRef, useState } from 'preact/hooks';
import { announce } from '../../components/announcer.tsx';
import { saveFile } from '../../components/files.ts';
import { Icon } from '../../components/icon.tsx';
import { IconButton } from '../../components/icon-button.tsx';
import type { Conversation } from '../../conversation/conversation.ts';
import { answerText } from '../../conversation/parts.ts';
import { messageOf } from '../../conversation/run-answer.ts';
import { go, hashOf } from '../../router.ts';
import type { ChatStore } from './chat-store.ts';

interface SidebarProps {
  store: ChatStore;
  open: boolean;
  onClose(): void;
  onNew(): void;
}

/** The conversations that are kept: found, opened, deleted, taken along and brought in. */
export function Sidebar({ store, open, onClose, onNew }: SidebarProps) {
  const [query, setQuery] = useState('');
  const [error, setError] = useState<string | null>(null);
  const search = useRef<HTMLInputElement>(null);
  const file = useRef<HTMLInputElement>(null);
  const found = store.kept.value.filter((conversation) => matches(conversation, query));
  // Where it lies over the page, the keyboard goes into it, and back to where it came from.
  useEffect(() => {
    if (!open) return;
    const opener = document.activeElement;
    search.current?.focus();
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, [open]);

  async function bringIn(input: HTMLInputElement): Promise<void> {
    const chosen = input.files?.[0];
    if (!chosen) return;
    try {
      const count = await store.import(await chosen.text());
      setError(null);
      announce(`${count === 1 ? 'A conversation is' : `${count} conversations are`} here.`);
      go('chat', store.current.value.id);
    } catch (cause) {
      setError(messageOf(cause));
    }
    input.value = '';
  }

  return (
    <>
      {open && <button type="button" class="backdrop" tabIndex={-1} aria-label="Close" onClick={onClose} />}
      <aside
        class={open ? 'sidebar open' : 'sidebar'}
        aria-label="Conversations"
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || !open) return;
          event.preventDefault();
          onClose();
        }}
      >
        <div class="sidebar-head">
          <button type="button" class="small" onClick={onNew}>
            <Icon name="plus" /> New chat
          </button>
          <IconButton icon="close" label="Close the conversations" onClick={onClose} />
        </div>
        <label class="search">
          <Icon name="search" />
          <input
            ref={search}
            type="search"
            placeholder="Search"
            aria-label="Search conversations"
            value={query}
            onInput={(event) => setQuery(event.currentTarget.value)}
          />
        </label>
        {error !== null && (
          <p class="error" role="alert">
            {error}
          </p>
        )}
        <ul class="conversations">
          {found.map((conversation) => (
            <li key={conversation.id}>
              <a
                href={hashOf('chat', conversation.id)}
                aria-current={conversation.id === store.current.value.id ? 'true' : undefined}
                onClick={onClose}
              >
                {conversation.title}
              </a>
              <IconButton
                icon="trash"
                label={`Delete: ${conversation.title}`}
                onClick={() => {
                  const isShown = conversation.id === store.current.value.id;
                  void store.delete(conversation.id);
                  announce('Deleted.');
                  if (isShown) go('chat', '', { replace: true });
                }}
              />
            </li>
          ))}
        </ul>
        {found.length === 0 && (
          <p class="empty">
            {query === '' ? 'What you ask is kept here, in this browser only.' : 'Nothing found.'}
          </p>
        )}
        <div class="sidebar-foot">
          <button
            type="button"
            class="small"
            disabled={store.kept.value.length === 0}
            onClick={() => saveFile('tokenprism-conversations.json', store.exportText(found))}
          >
            <Icon name="download" /> Export
          </button>
          <button type="button" class="small" onClick={() => file.current?.click()}>
            <Icon name="upload" /> Import
          </button>
          <input
            ref={file}
            type="file"
            accept="application/json,.json"
            aria-label="File of conversations"
            hidden
            onChange={(event) => void bringIn(event.currentTarget)}
          />
        </div>
      </aside>
    </>
  );
}

/** Every word stands somewhere in the conversation. */
function matches({ title, exchanges }: Conversation, query: string): boolean {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const text = [title, ...exchanges.flatMap(({ question, answer }) => [question, answerText(answer.parts)])]
    .join('\n')
    .toLowerCase();
  return words.every((word) => text.includes(word));
}
