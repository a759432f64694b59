import { useSignalEffect } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { Composer } from '../../components/composer.tsx';
import { useFollow } from '../../components/follow.ts';
import { IconButton } from '../../components/icon-button.tsx';
import { ModelDock } from '../../components/model-dock.tsx';
import { Switch } from '../../components/switch.tsx';
import { Timers } from '../../components/timers.tsx';
import type { Exchange } from '../../conversation/conversation.ts';
import { session } from '../../engine/model-session.ts';
import { chatTools, thinking } from '../../preferences.ts';
import { go, route } from '../../router.ts';
import { storedConversations } from '../../storage/conversations.ts';
import { storedNotes } from '../../storage/notes.ts';
import { createDemoTools } from '../../tools/index.ts';
import { timers } from '../../tools/timers.ts';
import { type ChatOptions, ChatStore } from './chat-store.ts';
import { ExchangeView } from './exchange-view.tsx';
import { Sidebar } from './sidebar.tsx';
import { Welcome } from './welcome.tsx';

const store = new ChatStore(storedConversations);
const restored = store.restore();

const remarks = new Map(demoTools('').map(({ name, remark }) => [name, remark ?? null]));
const remarkOf = (tool: string) => remarks.get(tool) ?? null;

function demoTools(question: string) {
  return createDemoTools({ notes: storedNotes, timers, question });
}

function options(): ChatOptions {
  return {
    thinking: thinking.value === 'on',
    tools: (question) => (chatTools.value === 'on' ? demoTools(question) : []),
  };
}

export default function ChatPage() {
  const [sidebar, setSidebar] = useState(false);
  const engine = session.engine.value;
  const running = store.running.value;
  const exchanges = store.path();
  const { id } = store.current.value;
  useFollow(running);
  useShownConversation();

  function newChat(): void {
    store.create();
    timers.clear();
    setSidebar(false);
    go('chat');
    document.querySelector<HTMLElement>('.composer textarea')?.focus();
  }

  const ask = (question: string) => {
    if (!engine) return;
    void store.ask(engine, question, options());
    go('chat', store.current.value.id, { replace: true });
  };
  const actions = engine && {
    askInstead: (exchange: Exchange, question: string) =>
      void store.askInstead(engine, exchange, question, options()),
    resume: (exchange: Exchange) => void store.resume(engine, exchange, options()),
    show: (exchange: Exchange) => store.show(exchange),
    newChat,
  };

  return (
    <div class="with-sidebar">
      <Sidebar store={store} open={sidebar} onClose={() => setSidebar(false)} onNew={newChat} />
      <div class="column">
        <div class="column-head">
          <IconButton icon="panel" label="Conversations" onClick={() => setSidebar(!sidebar)} />
          <IconButton icon="plus" label="New chat" onClick={newChat} />
        </div>
        <main id="main" tabIndex={-1} class="page">
          {exchanges.length === 0 && <Welcome ready={engine !== null} onAsk={ask} />}
          <div class="transcript" role="log" aria-label="Conversation" aria-live="off">
            {exchanges.map((exchange) => (
              <ExchangeView
                key={`${id}/${exchange.id}`}
                store={store}
                exchange={exchange}
                isLast={exchange === exchanges.at(-1)}
                remarkOf={remarkOf}
                actions={running ? null : actions}
              />
            ))}
          </div>
        </main>
        <footer class="dock">
          <ModelDock />
          {store.storageError.value !== null && (
            <p class="error" role="alert">
              {store.storageError}
            </p>
          )}
          <Timers />
          <Composer
            placeholder="Ask for the weather, a sum, a note…"
            ready={engine !== null}
            running={running}
            onSend={ask}
            onStop={() => store.stop()}
          >
            <Switch label="Thinking" value={thinking} />
            <Switch label="Tools" value={chatTools} />
          </Composer>
        </footer>
      </div>
    </div>
  );
}

/** The address names the conversation that is shown. */
function useShownConversation(): void {
  useEffect(() => {
    // Until then nothing is known of any.
    void restored.then(() => {
      const { page, rest } = route.peek();
      if (page === 'chat' && rest !== '') store.open(rest);
    });
  }, []);
  useSignalEffect(() => {
    const { page, rest } = route.value;
    if (page !== 'chat' || store.kept.peek().length === 0) return;
    const current = store.current.peek();
    if (rest !== '') store.open(rest);
    // Who comes back from another page finds what was there.
    else if (current.exchanges.length > 0) go('chat', current.id, { replace: true });
  });
}
