import { prettyJson } from '../../components/json-text.ts';
import { JsonView } from '../../components/json-view.tsx';
import { ModelDock } from '../../components/model-dock.tsx';
import { session } from '../../engine/model-session.ts';
import { formExamples } from './examples.ts';
import type { FormField } from './form-schema.ts';
import { FormStore } from './form-store.ts';

const store = new FormStore();

export default function FormPage() {
  const engine = session.engine.value;
  const schema = store.schema.value;
  const running = store.running.value;
  const isWrong = schema instanceof Error;
  return (
    <main id="main" tabIndex={-1} class="page wide">
      <h1>A form that fills itself</h1>
      <p class="lead">
        A grammar made of the schema holds the model while it writes: whatever the temperature, what comes out
        is valid.
      </p>
      <div class="split">
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            if (engine) void store.fill(engine);
          }}
        >
          <div class="actions examples-row">
            {formExamples.map((example) => (
              <button
                key={example.name}
                type="button"
                class="small"
                disabled={running}
                onClick={() => {
                  store.prompt.value = example.prompt;
                  store.setSchema(JSON.stringify(example.schema, null, 2));
                }}
              >
                {example.name}
              </button>
            ))}
          </div>
          <label class="field">
            <span>What to ask for</span>
            <input
              type="text"
              value={store.prompt.value}
              onInput={(event) => {
                store.prompt.value = event.currentTarget.value;
              }}
            />
          </label>
          <label class="field">
            <span>JSON schema</span>
            <textarea
              class="mono"
              rows={16}
              spellcheck={false}
              value={store.schemaText.value}
              aria-invalid={isWrong}
              onInput={(event) => store.setSchema(event.currentTarget.value)}
            />
          </label>
          {isWrong && (
            <p class="error" role="alert">
              {schema.message}
            </p>
          )}
          <label class="field">
            <span>{`Temperature ${store.temperature.value.toFixed(1)}`}</span>
            <input
              type="range"
              min={0}
              max={2}
              step={0.1}
              value={store.temperature.value}
              onInput={(event) => {
                store.temperature.value = event.currentTarget.valueAsNumber;
              }}
            />
          </label>
          <div class="actions">
            {/* Two buttons, not one that changes: a click on the first must not be one on the second. */}
            {running ? (
              <button key="stop" type="button" class="small" onClick={() => store.stop()}>
                Stop
              </button>
            ) : (
              <button
                key="fill"
                type="submit"
                class="small primary"
                disabled={!engine || isWrong || store.prompt.value === ''}
              >
                Fill the form
              </button>
            )}
          </div>
          <ModelDock />
        </form>
        <section class="stack card" aria-label="The form" aria-busy={running}>
          <div class="form-head">
            <h2>The form</h2>
            <Verdict />
          </div>
          {store.fields.value.map((field) => (
            <Field key={field.name} field={field} value={store.value.value} />
          ))}
          {store.error.value !== null && (
            <p class="error" role="alert">
              {store.error}
            </p>
          )}
          {store.text.value !== '' && (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard.
            <pre class="raw-json" role="group" aria-label="The answer as it came" tabIndex={0}>
              {running ? store.text.value : <JsonView text={prettyJson(store.text.value)} />}
            </pre>
          )}
        </section>
      </div>
    </main>
  );
}

/** How the answer stands to its schema. */
function Verdict() {
  const violations = store.violations.value;
  if (store.running.value) return <span class="verdict">Filling…</span>;
  if (store.end.value === 'length') return <span class="verdict bad">Cut at the token limit</span>;
  if (store.end.value === 'stopped') return <span class="verdict">Stopped</span>;
  if (violations === null) return null;
  return violations.length === 0 ? (
    <span class="verdict good">Valid</span>
  ) : (
    <span class="verdict bad">{violations.join('; ')}</span>
  );
}

function Field({ field, value }: { field: FormField; value: unknown }) {
  const { name, label, kind, choices } = field;
  const given =
    typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  if (kind === 'boolean') {
    return (
      <label class="check">
        <input type="checkbox" checked={given === true} disabled />
        {label}
        {given === undefined && <span class="hint">not yet said</span>}
      </label>
    );
  }
  if (kind === 'choice') {
    return (
      <fieldset class="choices">
        <legend class="field-label">{label}</legend>
        {choices.map((choice) => (
          <label key={choice} class={String(given) === choice ? 'choice chosen' : 'choice'}>
            <input type="radio" name={name} checked={String(given) === choice} disabled />
            {choice}
          </label>
        ))}
      </fieldset>
    );
  }
  const text = given === undefined ? '' : typeof given === 'string' ? given : JSON.stringify(given);
  return (
    <label class="field">
      <span>{label}</span>
      <input type="text" readOnly value={text} inputMode={kind === 'number' ? 'decimal' : 'text'} />
    </label>
  );
}
