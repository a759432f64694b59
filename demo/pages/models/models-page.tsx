import { useEffect, useState } from 'preact/hooks';
import { deleteCachedModels } from '../../../src/index.ts';
import { announce } from '../../components/announcer.tsx';
import { formatBytes } from '../../components/bytes.ts';
import { deviceNames } from '../../components/device-chip.tsx';
import { ModelDock } from '../../components/model-dock.tsx';
import { session } from '../../engine/model-session.ts';
import { offlineReady } from '../../offline/updates.ts';
import { addressOf, type DeviceChoice, type Settings } from '../../settings.ts';
import { catalogue } from './catalogue.ts';
import { type DeviceAbilities, deviceAbilities, verdict } from './device-report.ts';
import { folderModel } from './folder-model.ts';

const devices: { value: DeviceChoice; label: string }[] = [
  { value: 'auto', label: 'Automatic' },
  { value: 'webgpu', label: 'WebGPU' },
  { value: 'wasm', label: 'WASM' },
];

/** Loads a model; the address says so, and loading the page again does the same. */
function load(change: Partial<Settings>): void {
  const before = session.settings.value ?? { device: 'auto', model: null };
  const settings: Settings = { ...before, ...change };
  history.replaceState(null, '', addressOf(settings, location.href));
  void session.load(settings);
}

export default function ModelsPage() {
  const [abilities, setAbilities] = useState<DeviceAbilities | null>(null);
  useEffect(() => {
    void deviceAbilities().then(setAbilities);
  }, []);
  return (
    <main id="main" tabIndex={-1} class="page wide">
      <h1>Models</h1>
      <p class="lead">
        The embedded model is there at once. Others come from where you say, and are kept in this browser.
      </p>
      <div class="split">
        <div class="stack">
          <LoadedModel />
          <ThisDevice abilities={abilities} />
        </div>
        <div class="stack">
          <Picker abilities={abilities} />
          <Storage />
        </div>
      </div>
    </main>
  );
}

function LoadedModel() {
  const status = session.status.value;
  const settings = session.settings.value;
  return (
    <section class="stack card" aria-label="The loaded model">
      <h2>Loaded</h2>
      {status.state === 'ready' ? (
        <>
          <dl class="facts">
            <dt>Model</dt>
            <dd>{status.report.model.id}</dd>
            <dt>Weights</dt>
            <dd>{status.report.device.dtype}</dd>
            <dt>Context</dt>
            <dd>{`${status.report.model.contextLength.toLocaleString('en')} tokens`}</dd>
            <dt>Format</dt>
            <dd>
              {[status.report.format.reasoning, status.report.format.tools].filter(Boolean).join(' + ') ||
                'plain text'}
            </dd>
            <dt>Runs on</dt>
            <dd>{`${deviceNames[status.report.device.device]}. ${status.report.device.reason}`}</dd>
          </dl>
          {status.report.format.warning && <p class="error">{status.report.format.warning}</p>}
        </>
      ) : (
        <ModelDock />
      )}
      <div class="actions" role="group" aria-label="Run the model on">
        {devices.map(({ value, label }) => (
          <button
            key={value}
            type="button"
            class="small"
            aria-pressed={settings?.device === value}
            onClick={() => load({ device: value })}
          >
            {label}
          </button>
        ))}
      </div>
    </section>
  );
}

function ThisDevice({ abilities }: { abilities: DeviceAbilities | null }) {
  if (!abilities) return null;
  const { adapter, isSoftware, shaderF16, maxBuffer, memory, isolated } = abilities;
  return (
    <section class="stack card" aria-label="This device">
      <h2>This device</h2>
      <dl class="facts">
        <dt>WebGPU</dt>
        <dd>{adapter === null ? 'no adapter' : `${adapter}${isSoftware ? ' (software)' : ''}`}</dd>
        {adapter !== null && (
          <>
            <dt>shader-f16</dt>
            <dd>{shaderF16 ? 'yes' : 'no'}</dd>
            <dt>Largest buffer</dt>
            <dd>{formatBytes(maxBuffer)}</dd>
          </>
        )}
        <dt>Memory</dt>
        <dd>{memory === null ? 'not told' : `${formatBytes(memory)} or more`}</dd>
        <dt>Isolated</dt>
        <dd>{isolated ? 'yes: WASM may use threads' : 'no: WASM runs on one thread'}</dd>
        <dt>Without network</dt>
        <dd>{offlineReady.value ? 'ready' : 'not yet kept'}</dd>
      </dl>
    </section>
  );
}

function Picker({ abilities }: { abilities: DeviceAbilities | null }) {
  const [name, setName] = useState('');
  const chosen = session.settings.value?.model ?? null;
  return (
    <section class="stack card" aria-label="Choose a model">
      <h2>Choose a model</h2>
      <ul class="model-list">
        <li>
          <div>
            <strong>Embedded demonstration model</strong>
            <span class="hint">2.3 M parameters, 3 MB, Apache-2.0. Nothing is downloaded.</span>
          </div>
          <LoadButton model={null} chosen={chosen} label="Embedded demonstration model" />
        </li>
        {catalogue.map(({ id, size, bytes, licence, note }) => {
          const judged = abilities && verdict(abilities, bytes);
          return (
            <li key={id}>
              <div>
                <strong>{id}</strong>
                <span class="hint">{`${size} parameters, about ${formatBytes(bytes)}, ${licence}. ${note}`}</span>
                {judged && <span class={judged.fits ? 'fits' : 'fits not'}>{judged.text}</span>}
              </div>
              <LoadButton model={id} chosen={chosen} label={id} />
            </li>
          );
        })}
      </ul>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== '') load({ model: name.trim() });
        }}
      >
        <label class="field grow">
          <span>A repository of the Hub, or the address of a folder</span>
          <input
            type="text"
            spellcheck={false}
            placeholder="owner/name or https://…"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="small" disabled={name.trim() === ''}>
          Load
        </button>
      </form>
      <label class="field">
        <span>A folder on this device, which stays here</span>
        <input
          type="file"
          {...{ webkitdirectory: true }}
          onChange={({ currentTarget }) => {
            const model = folderModel([...(currentTarget.files ?? [])]);
            if (model) load({ model });
          }}
        />
      </label>
    </section>
  );
}

interface LoadButtonProps {
  model: string | null;
  chosen: Settings['model'];
  label: string;
}

function LoadButton({ model, chosen, label }: LoadButtonProps) {
  const isLoaded = model === chosen && session.status.value.state === 'ready';
  return (
    <button
      type="button"
      class="small"
      disabled={isLoaded}
      aria-label={`${isLoaded ? 'Loaded' : 'Load'}: ${label}`}
      onClick={() => load({ model })}
    >
      {isLoaded ? 'Loaded' : 'Load'}
    </button>
  );
}

function Storage() {
  const [estimate, setEstimate] = useState<StorageEstimate | null>(null);
  const measure = async () => setEstimate((await navigator.storage?.estimate()) ?? null);
  useEffect(() => {
    void measure();
  }, []);
  return (
    <section class="stack card" aria-label="Storage">
      <h2>Storage</h2>
      {estimate?.usage !== undefined && estimate.quota !== undefined ? (
        <p class="hint">
          {`${formatBytes(estimate.usage)} of ${formatBytes(estimate.quota)} that this site may use: the app, its conversations, and models.`}
        </p>
      ) : (
        <p class="hint">This browser does not say how much is used.</p>
      )}
      <div class="actions">
        <button
          type="button"
          class="small"
          onClick={async () => {
            const had = await deleteCachedModels();
            announce(had ? 'The downloaded models are deleted.' : 'There were no downloaded models.');
            await measure();
          }}
        >
          Delete downloaded models
        </button>
      </div>
    </section>
  );
}
