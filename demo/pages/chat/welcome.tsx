import { session } from '../../engine/model-session.ts';
import { examples } from './examples.ts';

interface WelcomeProps {
  ready: boolean;
  onAsk(question: string): void;
}

export function Welcome({ ready, onAsk }: WelcomeProps) {
  const isEmbedded = session.settings.value?.model === null;
  return (
    <section class="welcome">
      <h1>Ask, and watch it think.</h1>
      <p class="lead">
        A language model that runs in this tab. It thinks, calls tools and answers on your own machine: what
        you write stays here.
      </p>
      <ul class="examples" aria-label="Examples to try">
        {examples.map((question) => (
          <li key={question}>
            <button type="button" disabled={!ready} onClick={() => onAsk(question)}>
              {question}
            </button>
          </li>
        ))}
      </ul>
      {isEmbedded && (
        <p class="model-note">
          <strong>This is a demonstration model</strong> of 2.3 million parameters, a thousandth of a usual
          one. It knows seven tools (weather, calculator, clock, units, notes, note search, timer) and a
          little small talk. It can’t write texts or code, knows next to nothing of the world, and gets sums
          wrong without its calculator.
        </p>
      )}
    </section>
  );
}
