import { useState } from 'preact/hooks';
import { AnswerFigures, AnswerView } from '../../components/answer-view.tsx';
import { Composer } from '../../components/composer.tsx';
import { useFollow } from '../../components/follow.ts';
import { ModelDock } from '../../components/model-dock.tsx';
import { Switch } from '../../components/switch.tsx';
import { Timers } from '../../components/timers.tsx';
import { session } from '../../engine/model-session.ts';
import { thinking } from '../../preferences.ts';
import { AgentStore } from './agent-store.ts';
import { ToolPanel } from './tool-panel.tsx';
import { ToolShelf } from './tool-shelf.ts';

const store = new AgentStore();
const shelf = new ToolShelf();
void shelf.restore();

/** Tasks that the embedded model can do with its tools. */
const examples = [
  'Look up the weather in Berlin and save it as a note',
  'Search my notes for Berlin',
  'What time is it in Oslo and Tokyo?',
];

const resumeLabels = {
  length: 'Continue',
  incomplete: 'Continue',
  rounds: 'More steps',
  stopped: 'Continue',
  failed: 'Try again',
};

export default function AgentPage() {
  const [steps, setSteps] = useState(6);
  const engine = session.engine.value;
  const running = store.running.value;
  const tasks = store.tasks.value;
  useFollow(running);
  const options = () => ({
    thinking: thinking.value === 'on',
    maxSteps: steps,
    tools: (task: string) => shelf.chosen(task),
  });
  const give = (task: string) => {
    if (engine) void store.give(engine, task, options());
  };
  const remarkOf = (name: string) => shelf.all.value.find((tool) => tool.name === name)?.remark ?? null;

  return (
    <div class="with-sidebar">
      <div class="column">
        <main id="main" tabIndex={-1} class="page">
          {tasks.length === 0 && (
            <section class="welcome">
              <h1>An agent that stays here.</h1>
              <p class="lead">
                Give it a task: it works in steps with the tools beside, in this browser and without a
                network. Tools that change something ask first.
              </p>
              <ul class="examples" aria-label="Tasks to try">
                {examples.map((task) => (
                  <li key={task}>
                    <button type="button" disabled={!engine} onClick={() => give(task)}>
                      {task}
                    </button>
                  </li>
                ))}
              </ul>
            </section>
          )}
          <div class="transcript" role="log" aria-label="Tasks" aria-live="off">
            {tasks.map(({ exchange, answer }, index) => (
              <div class="exchange" key={exchange.id}>
                <div class="question-row">
                  <p class="question" dir="auto">
                    {exchange.question}
                  </p>
                </div>
                <AnswerView
                  answer={answer}
                  remarkOf={remarkOf}
                  onDecide={(id, allowed) => store.decide(id, allowed)}
                >
                  {index === tasks.length - 1 && (
                    <Resume
                      end={answer.record.end}
                      disabled={!engine}
                      onClick={() => engine && void store.resume(engine, options())}
                    />
                  )}
                  <div class="row-actions">
                    <AnswerFigures answer={answer} />
                  </div>
                </AnswerView>
              </div>
            ))}
          </div>
        </main>
        <footer class="dock">
          <ModelDock />
          <Timers />
          <Composer
            placeholder="Give it a task…"
            ready={engine !== null}
            running={running}
            onSend={give}
            onStop={() => store.stop()}
          >
            <Switch label="Thinking" value={thinking} />
            <label class="steps">
              Steps
              <input
                type="number"
                min={1}
                max={50}
                value={steps}
                onChange={(event) => {
                  const count = Math.round(event.currentTarget.valueAsNumber);
                  const allowed = Number.isFinite(count) ? Math.min(50, Math.max(1, count)) : steps;
                  setSteps(allowed);
                  event.currentTarget.value = String(allowed);
                }}
              />
            </label>
            {tasks.length > 0 && !running && (
              <button type="button" class="small" onClick={() => store.clear()}>
                Clear
              </button>
            )}
          </Composer>
        </footer>
      </div>
      <ToolPanel shelf={shelf} />
    </div>
  );
}

interface ResumeProps {
  end: keyof typeof resumeLabels | 'answered' | null;
  disabled: boolean;
  onClick(): void;
}

function Resume({ end, disabled, onClick }: ResumeProps) {
  if (end === null || end === 'answered') return null;
  return (
    <div class="actions">
      <button type="button" class="small" disabled={disabled} onClick={onClick}>
        {resumeLabels[end]}
      </button>
    </div>
  );
}
