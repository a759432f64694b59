import { useState } from 'preact/hooks';
import { formatNames } from '../../../src/index.ts';
import { ModelDock } from '../../components/model-dock.tsx';
import { session } from '../../engine/model-session.ts';
import { Figures } from './figures.tsx';
import { InspectorStore } from './inspector-store.ts';
import { StepDetails } from './step-details.tsx';
import type { Cutting } from './steps.ts';
import { TokenStream } from './token-stream.tsx';

const store = new InspectorStore();

export default function InspectorPage() {
  const [pasting, setPasting] = useState(false);
  const recording = store.recording.value;
  const prompt = recording?.details?.prompt;
  const turn = (paste: boolean) => () => {
    store.stop();
    store.clear();
    setPasting(paste);
  };
  return (
    <main id="main" tabIndex={-1} class="page wide">
      <h1>Inspector</h1>
      <p class="lead">Every token, and what the parser made of it.</p>
      <div class="actions modes" role="group" aria-label="What to inspect">
        <button type="button" class="small" aria-pressed={!pasting} onClick={turn(false)}>
          Ask the model
        </button>
        <button type="button" class="small" aria-pressed={pasting} onClick={turn(true)}>
          Paste an output
        </button>
      </div>
      {pasting ? <PasteForm /> : <AskForm />}
      {store.error.value !== null && (
        <p class="error" role="alert">
          {store.error}
        </p>
      )}
      {recording && <Figures recording={recording} />}
      {store.running.value && (
        <pre class="coming" aria-label="What has come" role="group">
          {store.coming.value.map(({ text }) => text).join('')}
        </pre>
      )}
      {store.steps.value.length > 0 && (
        <div class="split inspected">
          <TokenStream store={store} />
          <StepDetails store={store} />
        </div>
      )}
      {prompt !== undefined && (
        <details class="card prompt">
          <summary>{`The prompt, ${recording?.usage?.prompt ?? 0} tokens`}</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard. */}
          <pre tabIndex={0} role="group" aria-label="The prompt as the model read it">
            {prompt}
          </pre>
        </details>
      )}
    </main>
  );
}

function AskForm() {
  const [question, setQuestion] = useState('What is 23 * 19?');
  const [thinking, setThinking] = useState(true);
  const [tools, setTools] = useState(true);
  const [required, setRequired] = useState(false);
  const engine = session.engine.value;
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (engine) void store.ask(engine, { question, thinking, tools, required: tools && required });
      }}
    >
      <label class="field">
        <span>Question</span>
        <input type="text" value={question} onInput={(event) => setQuestion(event.currentTarget.value)} />
      </label>
      <div class="checks">
        <Check label="Thinking" checked={thinking} onChange={setThinking} />
        <Check label="Tools" checked={tools} onChange={setTools} />
        <Check
          label="A call is required, held by a grammar"
          checked={required}
          disabled={!tools}
          onChange={setRequired}
        />
      </div>
      <div class="actions">
        {store.running.value ? (
          <button key="stop" type="button" class="small" onClick={() => store.stop()}>
            Stop
          </button>
        ) : (
          <button key="ask" type="submit" class="small primary" disabled={!engine || question.trim() === ''}>
            Ask and record
          </button>
        )}
      </div>
      <ModelDock />
    </form>
  );
}

const example =
  '<think>\nThe user wants the weather.\n</think>\n\nLet me look.\n<tool_call>\n{"name": "get_weather", "arguments": {"location": "Rome"}}\n</tool_call>';

function PasteForm() {
  const [text, setText] = useState(example);
  const [reasoning, setReasoning] = useState('qwen3');
  const [tools, setTools] = useState('hermes');
  const [cutting, setCutting] = useState<Cutting>('words');
  const [inReasoning, setInReasoning] = useState(false);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        const format = { reasoning: reasoning || null, tools: tools || null };
        void store.paste(text, format, cutting, inReasoning);
      }}
    >
      <label class="field">
        <span>Raw output, with its markers</span>
        <textarea
          class="mono"
          rows={7}
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <div class="row">
        <Choice label="Reasoning" names={formatNames.reasoning} value={reasoning} onChange={setReasoning} />
        <Choice label="Tool calls" names={formatNames.tools} value={tools} onChange={setTools} />
        <label class="field">
          <span>Cut into</span>
          <select value={cutting} onChange={(event) => setCutting(event.currentTarget.value as Cutting)}>
            <option value="words">words</option>
            <option value="characters">characters</option>
          </select>
        </label>
      </div>
      <Check
        label="The prompt has opened a block of reasoning"
        checked={inReasoning}
        onChange={setInReasoning}
      />
      <div class="actions">
        <button type="submit" class="small primary" disabled={text === ''}>
          Take apart
        </button>
      </div>
    </form>
  );
}

interface CheckProps {
  label: string;
  checked: boolean;
  disabled?: boolean;
  onChange(checked: boolean): void;
}

function Check({ label, checked, disabled = false, onChange }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      {label}
    </label>
  );
}

interface ChoiceProps {
  label: string;
  names: readonly string[];
  value: string;
  onChange(value: string): void;
}

function Choice({ label, names, value, onChange }: ChoiceProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">none</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
