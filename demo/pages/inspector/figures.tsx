import { formatSpeed } from '../../components/answer-view.tsx';
import type { Recording } from './recorder.ts';

/** What the answer cost, and how evenly it came. */
export function Figures({ recording: { details, usage, gaps } }: { recording: Recording }) {
  const timings = details?.timings;
  const figures: [string, string][] = [];
  if (timings) {
    figures.push(
      ['Time to first token', `${Math.round(timings.timeToFirstToken)} ms`],
      ['Speed', `${formatSpeed(timings.tokensPerSecond)} tokens/s`],
      ['Median between tokens', `${median(gaps).toFixed(1)} ms`],
    );
  }
  if (usage) {
    figures.push(
      ['Prompt', `${usage.prompt} tokens, ${usage.cached} cached`],
      ['Answer', `${usage.completion} tokens, ${usage.reasoning} reasoning`],
    );
  }
  if (timings) {
    figures.push(
      ['Forced by a grammar', `${timings.forcedTokens} tokens`],
      ['Drafts', `${timings.acceptedTokens} of ${timings.draftedTokens} taken`],
      ['Passes of the model', String(timings.forwards)],
    );
  }
  return (
    <section class="stack card" aria-label="Figures">
      <dl class="figure-grid">
        {figures.map(([term, text]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      {gaps.length > 1 && <GapChart gaps={gaps} />}
    </section>
  );
}

const height = 60;

/** Time between tokens over the answer: a bar a token. */
function GapChart({ gaps }: { gaps: readonly number[] }) {
  const highest = Math.max(...gaps, 1);
  const width = 1000 / gaps.length;
  return (
    <figure class="chart">
      <figcaption>{`Time between tokens as the page saw it, at most ${highest.toFixed(0)} ms`}</figcaption>
      <svg
        viewBox={`0 0 1000 ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Time between tokens: median ${median(gaps).toFixed(1)} ms, at most ${highest.toFixed(0)} ms`}
      >
        {gaps.map((gap, index) => {
          const bar = Math.max(1, (gap / highest) * height);
          return (
            <rect
              key={index}
              x={index * width}
              y={height - bar}
              width={Math.max(0.5, width * 0.8)}
              height={bar}
            />
          );
        })}
      </svg>
    </figure>
  );
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
