import { createEngine, type Engine } from '../src/index.ts';
import { Chat, messageOf } from './chat.ts';
import { examples } from './examples.ts';
import { readSettings, type Settings } from './settings.ts';
import { timers } from './tools/timer.ts';
import { Composer } from './view/composer.ts';
import { DeviceDetails } from './view/device-details.ts';
import { button, byId, element } from './view/element.ts';
import { Follow } from './view/follow.ts';
import { LoadingView } from './view/loading-view.ts';
import { showTimers } from './view/timer-bar.ts';

const announcements = byId('announcements', HTMLElement);
const announce = (text: string) => {
  announcements.textContent = text;
};
const loading = new LoadingView();
const loadError = byId('load-error', HTMLElement);
let chat: Chat | null = null;

const composer = new Composer(
  (question) => chat?.ask(question),
  () => chat?.stop(),
);
byId('new-chat', HTMLButtonElement).addEventListener('click', () => chat?.clear());
showTimers(timers, byId('timers', HTMLElement), announce);

const exampleButtons = examples.map((question) =>
  button(question, () => chat?.ask(question), { disabled: '' }),
);
byId('examples', HTMLElement).append(...exampleButtons.map((example) => element('li', {}, example)));

await start();

async function start(): Promise<void> {
  let settings: Settings | null = null;
  try {
    settings = readSettings(location.href);
    byId('model-note', HTMLElement).hidden = settings.model !== null;
    setReady(await load(settings));
  } catch (error) {
    showLoadError(messageOf(error), settings);
  }
}

async function load(settings: Settings): Promise<Engine> {
  const engine = await createEngine({
    device: settings.device,
    ...(settings.model !== null && { model: settings.model }),
    onProgress: ({ phase, overall }) => {
      if (phase === 'download') loading.show('Loading the model', overall.loaded, overall.total);
      else loading.show(phase === 'tokenizer' ? 'Preparing the tokenizer' : 'Starting the model');
    },
  });
  const details = new DeviceDetails(settings);
  details.show(engine.state);
  engine.addEventListener('state', () => details.show(engine.state));
  return engine;
}

function setReady(engine: Engine): void {
  chat = new Chat({
    engine,
    composer,
    announce,
    follow: new Follow(byId('transcript', HTMLElement)),
    reload: () => location.reload(),
  });
  loading.hide();
  for (const example of exampleButtons) example.disabled = false;
  composer.setState({ ready: true });
  announce('The model is ready.');
}

function showLoadError(message: string, settings: Settings | null): void {
  loading.hide();
  const actions = element(
    'div',
    { class: 'error-actions' },
    button('Try again', () => location.reload()),
  );
  const link = (label: string, href: string) => actions.append(element('a', { href }, label));
  if (settings === null) link('Start with the defaults', location.pathname);
  else if (settings.device !== 'wasm') link('Use WASM', settings.address({ device: 'wasm' }));
  else link('Choose the device automatically', settings.address({ device: 'auto' }));
  loadError.replaceChildren(element('p', {}, message), actions);
  loadError.hidden = false;
}
