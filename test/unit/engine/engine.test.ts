import { describe, expect, it } from 'vitest';
import { createEngine, type Engine } from '../../../src/engine/engine.ts';
import type { EngineOptions } from '../../../src/engine/options.ts';
import { createScriptedEngine } from '../../../src/testing/index.ts';
import { device } from '../chat/scripted.ts';
import { FakeWorker } from './fake-worker.ts';

const messages = [{ role: 'user' as const, content: 'Hi' }];

/** An engine over fake workers that load at once; each later worker is another one after a crash. */
async function start(options: EngineOptions = {}) {
  const workers: FakeWorker[] = [];
  const worker = () => {
    const made = new FakeWorker();
    made.answer = ({ type }) => {
      if (type === 'load') made.emitLoaded();
      if (type === 'close') made.emit({ type: 'closed' });
    };
    workers.push(made);
    return made as unknown as Worker;
  };
  const engine = await createEngine({ reasoningParser: 'qwen3', toolParser: 'hermes', worker, ...options });
  return { engine, workers, worker: workers[0]! };
}

/** Answers the first request of `worker`, once it has come. */
async function reply(worker: FakeWorker, text: string): Promise<void> {
  while (worker.requests.length === 0) await turn();
  worker.reply(worker.requests[0]!, text);
}

const turn = () => new Promise((resolve) => setTimeout(resolve));
const ask = (engine: Engine) => engine.chat.completions.create({ messages, include_details: true });

describe('createEngine', () => {
  it('reports model, device and format', async () => {
    const { engine } = await start();
    expect(engine.state).toMatchObject({
      status: 'ready',
      model: { id: 'tiny' },
      device,
      format: { reasoning: 'qwen3', tools: 'hermes', source: 'option' },
      error: null,
    });
  });

  it('says what it could not recognise, and refuses tools then', async () => {
    const { engine } = await start({ reasoningParser: undefined, toolParser: undefined });
    expect(engine.state.format).toMatchObject({ reasoning: null, tools: null, source: 'none' });
    const tools = [{ type: 'function' as const, function: { name: 'f' } }];
    await expect(engine.chat.completions.create({ messages, tools })).rejects.toMatchObject({
      param: 'tools',
      status: 400,
    });
  });

  it('offers tools with toolParser null, and warns of nothing that was named', async () => {
    const { engine, worker } = await start({ reasoningParser: null, toolParser: null });
    expect(engine.state.format).toEqual({ reasoning: null, tools: null, source: 'option', warning: null });
    const tools = [{ type: 'function' as const, function: { name: 'f' } }];
    const answer = engine.chat.completions.create({ messages, tools });
    await reply(worker, '<tool_call>');
    expect((await answer).choices[0]?.message.content).toBe('<tool_call>');
    expect(worker.received.at(-1)).toMatchObject({ job: { tools } });
  });

  it('refuses an unknown format name before a worker is made', async () => {
    await expect(start({ toolParser: 'nope' })).rejects.toMatchObject({ name: 'BadRequestError' });
  });

  it('rejects and ends the worker where the vocabulary lacks a marker', async () => {
    const worker = new FakeWorker();
    worker.answer = ({ type }) => {
      if (type === 'load') worker.emitLoaded();
      if (type === 'close') worker.emit({ type: 'closed' });
    };
    // A table of plain characters: the markers' ids are gone.
    const emit = worker.emit.bind(worker);
    worker.emit = (...sent) =>
      emit(
        ...sent.map((message) =>
          message.type === 'loaded'
            ? { ...message, table: { ...message.table, flags: new Uint8Array(message.table.flags.length) } }
            : message,
        ),
      );
    const load = createEngine({ reasoningParser: 'qwen3', worker: () => worker as unknown as Worker });
    await expect(load).rejects.toMatchObject({ name: 'ModelLoadError' });
    expect(worker.terminated).toBe(true);
  });

  it('splits what the worker sends with the real parser', async () => {
    const { engine, worker } = await start();
    const answer = ask(engine);
    await reply(worker, 'Hm.');
    // The prompt has no open block and thinking is on: the text is reasoning that never ended.
    expect((await answer).choices[0]?.message).toMatchObject({ reasoning: 'Hm.', content: null });
  });

  it('goes on with open requests in a new worker, in their order, with all that has come', async () => {
    const { engine, workers, worker } = await start();
    const states: string[] = [];
    engine.addEventListener('state', () => states.push(engine.state.status));
    const first = ask(engine);
    const second = ask(engine);
    while (worker.requests.length < 2) await turn();
    const request = worker.requests[0]!;
    worker.emit(
      { type: 'state', request, state: 'prefilling', done: 1, total: 1, cached: 1 },
      { type: 'state', request, state: 'decoding' },
    );
    worker.reply(request, 'al', { isOpen: true });
    worker.crash('boom');
    expect(engine.state).toMatchObject({
      status: 'recovering',
      error: { name: 'WorkerError', message: expect.stringContaining('boom') },
    });
    const third = ask(engine);
    while (workers.length < 2 || workers[1]!.requests.length < 3) await turn();
    const [, next] = workers as [FakeWorker, FakeWorker];
    expect(next.received[0]).toMatchObject({ type: 'load', answered: 0 });
    const jobs = next.received.flatMap((message) => (message.type === 'generate' ? [message.job] : []));
    expect(jobs[0]!.resume).toEqual({
      promptTokenIds: Uint32Array.of(65),
      seed: 1,
      choices: [{ ids: [97, 108], cutAt: null }],
    });
    expect(jobs.slice(1).map(({ resume }) => resume)).toEqual([undefined, undefined]);
    next.emit({ type: 'state', request: 0, state: 'prefilling', done: 1, total: 1, cached: 0 });
    next.reply(next.requests[0]!, 'l</think>', { from: 2 });
    for (const request of next.requests.slice(1)) next.reply(request, 'back');
    const answers = await Promise.all([first, second, third]);
    expect(answers.map(({ choices }) => choices[0]!.message.reasoning)).toEqual(['all', 'back', 'back']);
    // As the first worker found it.
    expect(answers[0]!.usage?.prompt_tokens_details?.cached_tokens).toBe(1);
    expect(answers.map(({ tokenprism }) => tokenprism?.timings.resumed)).toEqual([1, undefined, undefined]);
    expect(engine.state).toMatchObject({ status: 'ready', error: null, recoveries: 1 });
    expect(states).toEqual(['recovering', 'ready']);
  });

  it('answers who asks as soon as it hears of a crash', async () => {
    const { engine, workers, worker } = await start();
    const first = ask(engine);
    while (worker.requests.length === 0) await turn();
    const asked: ReturnType<typeof ask>[] = [];
    engine.addEventListener('state', () => asked.push(ask(engine)));
    worker.crash('boom');
    while (workers.length < 2 || workers[1]!.requests.length < 3) await turn();
    for (const request of workers[1]!.requests) workers[1]!.reply(request, 'ok');
    expect((await Promise.all([first, ...asked])).map(({ choices }) => choices[0]!.finish_reason)).toEqual([
      'stop',
      'stop',
      'stop',
    ]);
  });

  it('waits for the GPU that it had, and leaves it with the last try', async () => {
    const workers: FakeWorker[] = [];
    const missing = {
      name: 'WebGPUUnavailableError' as const,
      message: 'none',
      status: 503,
      code: null,
      param: null,
    };
    const engine = await createEngine({
      reasoningParser: 'qwen3',
      worker: () => {
        const made = new FakeWorker();
        made.answer = (message) => {
          if (message.type !== 'load') return;
          const isThere = workers.length === 1 || (message.backend as { device: string }).device === 'auto';
          if (isThere) made.emitLoaded({}, { device: workers.length === 1 ? 'webgpu' : 'wasm' });
          else made.emit({ type: 'failed', request: null, error: missing });
        };
        workers.push(made);
        return made as unknown as Worker;
      },
    });
    const answer = ask(engine);
    while (workers[0]!.requests.length === 0) await turn();
    workers[0]!.crash('boom');
    while (workers.length < 4) await turn();
    await reply(workers[3]!, 'ok');
    await answer;
    const asked = workers
      .map(({ received }) => received[0])
      .map((load) => load?.type === 'load' && load.backend);
    expect(asked).toMatchObject([
      { device: 'auto' },
      { device: 'webgpu' },
      { device: 'webgpu' },
      { device: 'auto' },
    ]);
    expect(engine.state).toMatchObject({ status: 'ready', device: { device: 'wasm' }, recoveries: 1 });
  });

  it('comes back from a crash in idleness with the next request', async () => {
    const { engine, workers, worker } = await start();
    worker.crash('boom');
    expect(engine.state).toMatchObject({ status: 'failed', error: { name: 'WorkerError' } });
    const answer = ask(engine);
    expect(engine.state.status).toBe('recovering');
    while (workers.length < 2) await turn();
    await reply(workers[1]!, 'back');
    await answer;
    expect(engine.state.status).toBe('ready');
  });

  it('stays closed when it is closed while a new worker comes up, whenever that is', async () => {
    for (let turns = 0; turns < 12; turns++) {
      const { engine, workers, worker } = await start();
      worker.crash('boom');
      const answer = ask(engine);
      const outcome = expect(answer).rejects.toMatchObject({ name: 'EngineClosedError' });
      for (let passed = 0; passed < turns; passed++) await Promise.resolve();
      await engine.close();
      await outcome;
      expect(engine.state.status).toBe('closed');
      expect(workers.every(({ terminated }) => terminated)).toBe(true);
    }
  });

  it('fails the request, not the engine, where the new worker does not come up either', async () => {
    const { engine, workers, worker } = await start();
    worker.crash('boom');
    const make = workers.push.bind(workers);
    workers.push = (...made: FakeWorker[]) => {
      for (const one of made) one.answer = () => one.crash('again');
      return make(...made);
    };
    await expect(ask(engine)).rejects.toMatchObject({ message: expect.stringContaining('again') });
    expect(engine.state.status).toBe('failed');
    workers.push = make;
    const answer = ask(engine);
    while (workers.length < 3) await turn();
    await reply(workers[2]!, 'ok');
    await answer;
    expect(engine.state.status).toBe('ready');
  });

  it('leaves a worker whose device is lost while a request runs, and takes a device that it gets in idleness', async () => {
    const { engine, workers, worker } = await start();
    const lost = ask(engine);
    while (worker.requests.length === 0) await turn();
    const error = { name: 'DeviceLostError' as const, message: 'gone', status: 503, code: null, param: null };
    worker.emit({ type: 'failed', request: worker.requests[0]!, error });
    expect(engine.state).toMatchObject({ status: 'recovering', error: { name: 'DeviceLostError' } });
    expect(worker.terminated).toBe(true);
    while (workers.length < 2) await turn();
    await reply(workers[1]!, 'ok');
    await lost;
    workers[1]!.emit({ type: 'device', device: { ...device, reason: 'new' } });
    expect(engine.state).toMatchObject({ status: 'ready', device: { reason: 'new' } });
  });

  it('forgets a request that is aborted between two workers, and fails those that are there when it is closed', async () => {
    const { engine, workers, worker } = await start();
    const controller = new AbortController();
    const left = engine.chat.completions.create({ messages }, { signal: controller.signal });
    const other = ask(engine);
    while (worker.requests.length < 2) await turn();
    worker.crash('boom');
    controller.abort();
    await expect(left).rejects.toMatchObject({ name: 'AbortError' });
    while (workers.length < 2 || workers[1]!.requests.length < 1) await turn();
    expect(workers[1]!.requests).toHaveLength(1);
    workers[1]!.crash('boom');
    const outcome = expect(other).rejects.toMatchObject({ name: 'EngineClosedError' });
    await engine.close();
    await outcome;
  });

  it('closes once, fails what is open and takes nothing more', async () => {
    const { engine, worker } = await start();
    const open = ask(engine);
    while (worker.requests.length === 0) await turn();
    const closing = engine.close();
    await expect(open).rejects.toMatchObject({ name: 'EngineClosedError' });
    await closing;
    await engine.close();
    expect(engine.state.status).toBe('closed');
    expect(worker.terminated).toBe(true);
    await expect(ask(engine)).rejects.toMatchObject({ name: 'EngineClosedError' });
  });

  it('aborts a load', async () => {
    const controller = new AbortController();
    const worker = new FakeWorker();
    const load = createEngine({ worker: () => worker as unknown as Worker, signal: controller.signal });
    setTimeout(() => controller.abort());
    await expect(load).rejects.toMatchObject({ name: 'AbortError' });
    expect(worker.terminated).toBe(true);
  });
});

describe('createScriptedEngine', () => {
  it('gives the turns to the scripted backend', async () => {
    const worker = new FakeWorker();
    worker.answer = () => worker.emitLoaded();
    await createScriptedEngine(['a', { ids: [1], open: true }], {
      worker: () => worker as unknown as Worker,
    });
    expect(worker.received[0]).toMatchObject({
      backend: { kind: 'scripted', turns: [{ text: 'a' }, { ids: [1], open: true }] },
    });
  });

  it('needs a turn', async () => {
    await expect(createScriptedEngine([])).rejects.toMatchObject({ name: 'BadRequestError' });
  });
});
