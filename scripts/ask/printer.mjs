/** Prints what the page reports: the conversation on stdout, what is on the way on stderr. */

const megabyte = 1_000_000;

function style(stream, code) {
  const coloured = stream.isTTY && process.env.NO_COLOR === undefined;
  return coloured ? (text) => `\x1b[${code}m${text}\x1b[0m` : (text) => text;
}

/** One line of stderr that is written over, on a terminal only. */
function createStatusLine() {
  const { stderr } = process;
  let shown = '';
  const show = (text) => {
    if (!stderr.isTTY || text === shown) return;
    stderr.write(`\r\x1b[K${text}`);
    shown = text;
  };
  return { show, clear: () => show('') };
}

function loadStatus({ phase, overall }) {
  if (phase !== 'download') return `loading: ${phase} …`;
  const of = overall.total > 0 ? ` of ${(overall.total / megabyte).toFixed(1)}` : '';
  return `loading: ${(overall.loaded / megabyte).toFixed(1)}${of} MB`;
}

function promptStatus({ state, done, total }) {
  return done !== null && total ? `reading the prompt: ${done} of ${total} tokens` : `${state} …`;
}

/** With `json`, stdout gets nothing but the run as one line of JSON at the end. */
export function createPrinter({ json }) {
  const { stdout, stderr } = process;
  const dim = style(stdout, '2');
  const bold = style(stdout, '1');
  const quiet = style(stderr, '2');
  const status = createStatusLine();
  /** What stands in the block of text that is being written: reasoning, content or a call. */
  let block = null;

  function write(kind, text) {
    status.clear();
    // The white space that models put between their blocks is ours to choose.
    const piece = block === kind ? text : text.trimStart();
    if (piece === '') return;
    if (block !== null && block !== kind) stdout.write('\n');
    block = kind;
    stdout.write(kind === 'reasoning' ? dim(piece) : piece);
  }

  function line(text) {
    status.clear();
    if (block !== null) stdout.write('\n');
    block = null;
    stdout.write(`${text}\n`);
  }

  const conversation = {
    reasoning: ({ text }) => write('reasoning', text),
    content: ({ text }) => write('content', text),
    'call-start': ({ index, name }) => write(`call ${index}`, `→ ${bold(name)} `),
    'call-arguments': ({ index, text }) => write(`call ${index}`, text),
    'call-dropped': ({ name }) => line(`✗ the answer was cut: ${name} is not run`),
    'tool-result': ({ content }) => line(`← ${content}`),
    'tool-error': ({ content }) => line(`← ${content}`),
    'round-end': () => {
      if (block !== null) stdout.write('\n');
      block = null;
    },
    end: ({ result }) => {
      if (result.reason === 'length') stderr.write(`${quiet('(cut at the token limit)')}\n`);
    },
  };

  return {
    report(report) {
      if (report.type === 'load') status.show(loadStatus(report.progress));
      else if (report.type === 'prompt') status.show(promptStatus(report.progress));
      else if (report.type === 'loaded') status.clear();
      else if (!json) conversation[report.type]?.(report);
    },

    finish(run) {
      status.clear();
      if (json) {
        stdout.write(`${JSON.stringify(run)}\n`);
        return;
      }
      const tokens = run.usage.completion_tokens;
      const decode = run.timings.rounds.reduce((total, round) => total + round.decode, 0);
      const speed = decode > 0 ? `, ${((tokens / decode) * 1000).toFixed(1)} tokens/s` : '';
      stderr.write(`${quiet(`${run.model} on ${run.device}, ${tokens} tokens${speed}`)}\n`);
    },

    /** Leaves the terminal in order, also after a failure. */
    close() {
      status.clear();
      if (block !== null) stdout.write('\n');
      block = null;
    },
  };
}
