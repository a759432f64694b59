import { render } from 'preact';
import { App } from './app.tsx';
import { messageOf } from './conversation/run-answer.ts';
import { session } from './engine/model-session.ts';
import { startOffline } from './offline/updates.ts';
import { readSettings } from './settings.ts';

render(<App />, document.body);

try {
  void session.load(readSettings(location.href));
} catch (error) {
  session.fail(messageOf(error));
}
void startOffline();
