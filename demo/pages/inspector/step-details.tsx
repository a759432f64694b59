import type { InspectorStore } from './inspector-store.ts';
import type { ParserState, Step } from './steps.ts';
import { visible } from './token-stream.tsx';

const states: ParserState[] = ['start', 'reasoning', 'content', 'call', 'end'];

/** The step that is looked at: the token, its alternatives, the parser behind it, and the message so far. */
export function StepDetails({ store }: { store: InspectorStore }) {
  const step = store.step.value;
  if (!step) return null;
  const { reasoning, content, calls } = store.output.value;
  return (
    <section class="stack card" aria-label="The step">
      <ol class="states" aria-label="State of the parser">
        {states.map((state) => (
          <li key={state} aria-current={state === step.state ? 'step' : undefined}>
            {state}
          </li>
        ))}
      </ol>
      <dl class="facts">
        <dt>Text</dt>
        <dd>
          <code>{step.text === '' ? 'the end of the output' : JSON.stringify(step.text)}</code>
        </dd>
        {step.id !== null && (
          <>
            <dt>Id</dt>
            <dd>{step.id}</dd>
          </>
        )}
        {step.time !== null && step.id !== null && (
          <>
            <dt>Came after</dt>
            <dd>{`${Math.round(step.time)} ms`}</dd>
          </>
        )}
        {step.id !== null && (
          <>
            <dt>Grammar</dt>
            <dd>{grammarText(step.allowed)}</dd>
          </>
        )}
        <dt>Became</dt>
        <dd>
          {step.events.length === 0
            ? 'nothing: a marker, or held until it is known'
            : step.events.map(({ kind, text }) => `${kind} ${JSON.stringify(text)}`).join(', ')}
        </dd>
      </dl>
      <Alternatives step={step} />
      <h2>So far</h2>
      <dl class="facts">
        <dt>reasoning</dt>
        <dd>{reasoning === '' ? '–' : reasoning.trim()}</dd>
        <dt>content</dt>
        <dd>{content === '' ? '–' : content.trim()}</dd>
        <dt>tool_calls</dt>
        <dd>
          {calls.length === 0 ? '–' : calls.map(({ name, arguments: text }) => `${name} ${text}`).join('\n')}
        </dd>
      </dl>
    </section>
  );
}

/** What a grammar said at a step. */
function grammarText(allowed: number | null): string {
  if (allowed === null) return 'none holds the answer here';
  if (allowed === 1) return 'let only this token come';
  return `let ${allowed.toLocaleString('en')} tokens come`;
}

/** What the model could have said, by its probability. */
function Alternatives({ step }: { step: Step }) {
  if (step.logprob === null) return null;
  const possible = step.top.filter(({ logprob }) => Number.isFinite(logprob));
  return (
    <div>
      <h2>Probability</h2>
      {step.allowed === 1 ? (
        <p class="hint">Certain: a grammar left no choice.</p>
      ) : (
        <table class="alternatives">
          <caption class="visually-hidden">The most probable tokens</caption>
          <tbody>
            {possible.map(({ text, logprob }) => (
              <tr key={text} class={logprob === step.logprob ? 'chosen' : ''}>
                <th scope="row">
                  <code>{visible(text)}</code>
                </th>
                <td>
                  <meter
                    min={0}
                    max={1}
                    value={Math.exp(logprob)}
                    aria-label={`Probability of ${visible(text)}`}
                  />
                </td>
                <td>{`${(100 * Math.exp(logprob)).toFixed(1)} %`}</td>
                <td>{logprob.toFixed(3).replace(/^-(0\.0*)$/, '$1')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
