import { useSignal, useSignalEffect } from '@preact/signals';
import type { ComponentType } from 'preact';
import { Announcer, announce } from './components/announcer.tsx';
import { DeviceChip } from './components/device-chip.tsx';
import { Icon } from './components/icon.tsx';
import { UpdateNotice } from './components/update-notice.tsx';
import { messageOf } from './conversation/run-answer.ts';
import { session } from './engine/model-session.ts';
import { hashOf, type PageName, pageNames, route } from './router.ts';

const pages: Record<PageName, { title: string; load(): Promise<{ default: ComponentType }> }> = {
  chat: { title: 'Chat', load: () => import('./pages/chat/chat-page.tsx') },
  agent: { title: 'Agent', load: () => import('./pages/agent/agent-page.tsx') },
  form: { title: 'Form', load: () => import('./pages/form/form-page.tsx') },
  inspector: { title: 'Inspector', load: () => import('./pages/inspector/inspector-page.tsx') },
  models: { title: 'Models', load: () => import('./pages/models/models-page.tsx') },
};

export function App() {
  const { page } = route.value;
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the page
      </button>
      <header class="bar">
        <a class="brand" href={hashOf('chat')}>
          <img src="./app-icon.svg" alt="" width="26" height="26" />
          <span>Tokenprism</span>
        </a>
        <nav class="tabs" aria-label="Pages">
          {pageNames.map((name) => (
            <a key={name} href={hashOf(name)} aria-current={name === page ? 'page' : undefined}>
              <Icon name={name} />
              <span>{pages[name].title}</span>
            </a>
          ))}
        </nav>
        <DeviceChip />
      </header>
      <UpdateNotice />
      <Page />
      <Announcer />
    </>
  );
}

/** The page that the address names, loaded when it is first wanted. */
function Page() {
  const shown = useSignal<{ name: PageName; Content: ComponentType } | null>(null);
  const error = useSignal<string | null>(null);
  useSignalEffect(() => {
    const name = route.value.page;
    if (shown.peek()?.name === name) return;
    const { title, load } = pages[name];
    document.title = name === 'chat' ? 'Tokenprism' : `${title} · Tokenprism`;
    load().then(
      (module) => {
        if (route.peek().page !== name) return;
        const isFirst = shown.peek() === null;
        error.value = null;
        shown.value = { name, Content: module.default };
        scrollTo({ top: 0, behavior: 'instant' });
        if (!isFirst) announce(`${title}.`);
      },
      (cause) => {
        error.value = messageOf(cause);
      },
    );
  });
  if (error.value !== null) {
    return (
      <main id="main" tabIndex={-1} class="page">
        <div class="error" role="alert">
          <p>{`This page could not be loaded: ${error.value}`}</p>
          <div class="actions">
            <button type="button" class="small" onClick={() => location.reload()}>
              Load again
            </button>
          </div>
        </div>
      </main>
    );
  }
  const Content = shown.value?.Content;
  return Content ? (
    <Content />
  ) : (
    <main id="main" tabIndex={-1} class="page" aria-busy={session.engine.value === null} />
  );
}
