import { session } from '../engine/model-session.ts';
import { formatBytes } from './bytes.ts';

/** How the load stands, or why it failed and the ways on; nothing when the model is there. */
export function ModelDock() {
  const status = session.status.value;
  if (status.state === 'failed') return <LoadError message={status.message} />;
  if (status.state === 'ready') return null;
  const isPaused = status.state === 'paused';
  const { loaded, total } = status;
  const speed = isPaused ? null : status.speed;
  return (
    <div class="loading">
      <div class="loading-line">
        <label for="loading-bar">{isPaused ? 'Paused' : status.label}</label>
        {total > 0 && (
          <span>
            {`${formatBytes(loaded, total)} of ${formatBytes(total)}`}
            {speed !== null && `, ${formatBytes(speed)}/s`}
          </span>
        )}
      </div>
      {total > 0 ? (
        <progress id="loading-bar" value={Math.min(1, loaded / total)} max={1} />
      ) : (
        <progress id="loading-bar" />
      )}
      {/* One button for both, so that the keyboard's focus stays where it was. */}
      {(isPaused || status.canPause) && (
        <div class="actions">
          <button type="button" class="small" onClick={() => (isPaused ? session.resume() : session.pause())}>
            {isPaused ? 'Resume' : 'Pause'}
          </button>
        </div>
      )}
    </div>
  );
}

function LoadError({ message }: { message: string }) {
  const settings = session.settings.value;
  return (
    <div class="error" role="alert">
      <p>{message}</p>
      <div class="actions">
        {settings === null ? (
          <a class="small" href={location.pathname}>
            Start with the defaults
          </a>
        ) : (
          <>
            <button type="button" class="small" onClick={() => void session.load(settings)}>
              Try again
            </button>
            {settings.device !== 'wasm' && (
              <button
                type="button"
                class="small"
                onClick={() => void session.load({ ...settings, device: 'wasm' })}
              >
                Use WASM
              </button>
            )}
            <a class="small" href="#/models">
              Choose a model
            </a>
          </>
        )}
      </div>
    </div>
  );
}
