/**
 * In the sandboxed frame. Each run has a worker of its own, made from a blob, which has the frame's policy; when its
 * time is over it is ended from here, whatever it does.
 */
const workers = new Map();

/** The whole of the worker; it is sent as its text. */
function worker() {
  const output = [];
  const most = 100;
  const line = (...parts) => {
    if (output.length === most) output.push('…');
    if (output.length > most) return;
    output.push(parts.map((part) => (typeof part === 'string' ? part : text(part))).join(' '));
  };
  const text = (value) => {
    try {
      return JSON.stringify(value) ?? String(value);
    } catch {
      return String(value);
    }
  };
  for (const name of ['log', 'info', 'warn', 'error', 'debug']) console[name] = line;
  self.onmessage = async ({ data: { code, args } }) => {
    try {
      const AsyncFunction = (async () => {}).constructor;
      const value = await new AsyncFunction('args', code)(args);
      // As JSON, so that nothing crosses that JSON could not say.
      const json = value === undefined ? null : JSON.stringify(value);
      if (json === undefined) throw new Error(`The code returned a ${typeof value}, which is no JSON.`);
      self.postMessage({ value: JSON.parse(json), output, error: null });
    } catch (error) {
      self.postMessage({
        value: null,
        output,
        error: error instanceof Error ? `${error.name}: ${error.message}` : text(error),
      });
    }
  };
}

function stop(id) {
  const running = workers.get(id);
  if (!running) return;
  clearTimeout(running.timer);
  running.worker.terminate();
  workers.delete(id);
}

addEventListener('message', ({ source, data }) => {
  if (source !== parent) return;
  if (data.type === 'stop') stop(data.id);
  if (data.type !== 'run') return;
  const { id, code, args, limit } = data;
  const answer = (result) => {
    stop(id);
    parent.postMessage({ id, ...result }, '*');
  };
  const url = URL.createObjectURL(new Blob([`(${worker})()`], { type: 'text/javascript' }));
  const started = new Worker(url);
  URL.revokeObjectURL(url);
  const timer = setTimeout(
    () => answer({ value: null, output: [], error: `the code took longer than ${limit / 1000} seconds` }),
    limit,
  );
  workers.set(id, { worker: started, timer });
  started.onmessage = ({ data: result }) => answer(result);
  started.onerror = (event) =>
    answer({ value: null, output: [], error: event.message || 'the sandbox failed' });
  started.postMessage({ code, args });
});

parent.postMessage({ type: 'ready' }, '*');
