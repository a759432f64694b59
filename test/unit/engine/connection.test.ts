import { describe, expect, it, vi } from 'vitest';
import { Connection, type LoadJob } from '../../../src/engine/connection.ts';
import { ModelLoadError, serializeError } from '../../../src/errors.ts';
import type { GenerateJob } from '../../../src/protocol.ts';
import { FakeWorker, model } from './fake-worker.ts';

const loadJob: LoadJob = {
  model: { kind: 'folder', url: 'https://host/m/' },
  backend: { kind: 'scripted', turns: [] },
  wasmUrl: null,
};

const job: GenerateJob = {
  messages: [{ role: 'user', content: 'Hi' }],
  tools: null,
  templateArguments: {},
  sampling: {},
  maxTokens: null,
  choices: 1,
};

const listener = () => ({ message: vi.fn(), fail: vi.fn() });

describe('Connection', () => {
  it('loads, with progress', async () => {
    const worker = new FakeWorker();
    const onProgress = vi.fn();
    const connection = new Connection(worker, { onProgress });
    const progress = { phase: 'download' as const, file: 'config.json', loaded: 1, total: 2 };
    worker.answer = () => {
      worker.emit({ type: 'progress', progress });
      worker.emitLoaded();
    };
    expect(await connection.load(loadJob)).toMatchObject({ model });
    expect(worker.received).toEqual([{ type: 'load', ...loadJob }]);
    expect(onProgress).toHaveBeenCalledExactlyOnceWith(progress);
  });

  it('rejects a load that failed with the class of its error, and ends the worker', async () => {
    const worker = new FakeWorker();
    const connection = new Connection(worker);
    const error = serializeError(new ModelLoadError('config.json is missing', { code: 'file_missing' }));
    worker.answer = () => worker.emit({ type: 'failed', request: null, error });
    const load = connection.load(loadJob);
    await expect(load).rejects.toBeInstanceOf(ModelLoadError);
    await expect(load).rejects.toMatchObject({ message: 'config.json is missing', code: 'file_missing' });
    expect(worker.terminated).toBe(true);
  });

  it('gives up a worker that does not start, and waits for one that has', async () => {
    vi.useFakeTimers();
    try {
      const silent = new FakeWorker();
      const load = expect(new Connection(silent).load(loadJob)).rejects.toMatchObject({
        name: 'WorkerError',
        code: 'worker_silent',
      });
      const slow = new FakeWorker();
      slow.answer = () => slow.emit({ type: 'alive', lock: null });
      const loaded = new Connection(slow).load(loadJob);
      await vi.advanceTimersByTimeAsync(119_000);
      expect(silent.terminated).toBe(false);
      await vi.advanceTimersByTimeAsync(600_000);
      await load;
      expect([silent.terminated, slow.terminated]).toEqual([true, false]);
      slow.emitLoaded();
      expect(await loaded).toMatchObject({ model });
    } finally {
      vi.useRealTimers();
    }
  });

  it('rejects a load that is aborted, before and while it runs', async () => {
    const worker = new FakeWorker();
    const controller = new AbortController();
    const load = new Connection(worker).load(loadJob, controller.signal);
    controller.abort();
    await expect(load).rejects.toMatchObject({ name: 'AbortError' });
    expect(worker.terminated).toBe(true);

    const other = new FakeWorker();
    await expect(new Connection(other).load(loadJob, controller.signal)).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(other.received).toEqual([]);
  });

  it('explains a worker that does not start', async () => {
    const worker = new FakeWorker();
    const load = new Connection(worker).load(loadJob);
    worker.crash();
    await expect(load).rejects.toMatchObject({
      name: 'WorkerError',
      code: 'worker_crashed',
      message: expect.stringContaining('content security policy'),
    });
  });

  it('keeps requests apart by their numbers', () => {
    const worker = new FakeWorker();
    const connection = new Connection(worker);
    const [first, second] = [listener(), listener()];
    connection.generate(job, first);
    const generation = connection.generate(job, second);
    generation.cut(0, 7);
    expect(worker.requests).toEqual([0, 1]);
    expect(worker.received.at(-1)).toEqual({ type: 'cut', request: 1, choice: 0, at: 7 });
    worker.reply(1, 'yes');
    expect(first.message).not.toHaveBeenCalled();
    expect(second.message.mock.calls.map(([message]) => message.type)).toEqual(['started', 'tokens', 'done']);
  });

  it('forgets an aborted request and sends nothing for one that is over', () => {
    const worker = new FakeWorker();
    const connection = new Connection(worker);
    const heard = listener();
    const generation = connection.generate(job, heard);
    generation.abort();
    generation.abort();
    generation.cut(0, 1);
    worker.reply(0, 'late');
    expect(heard.message).not.toHaveBeenCalled();
    expect(worker.received.map(({ type }) => type)).toEqual(['generate', 'abort']);

    const over = connection.generate(job, listener());
    worker.reply(1, 'x');
    over.abort();
    expect(worker.received.map(({ type }) => type)).toEqual(['generate', 'abort', 'generate']);
  });

  it('fails one request with its error and leaves the others', () => {
    const worker = new FakeWorker();
    const connection = new Connection(worker);
    const [first, second] = [listener(), listener()];
    connection.generate(job, first);
    connection.generate(job, second);
    const error = { name: 'DeviceLostError' as const, message: 'gone', status: 503, code: null, param: null };
    worker.emit({ type: 'failed', request: 0, error });
    expect(first.fail).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ name: 'DeviceLostError' }));
    expect(second.fail).not.toHaveBeenCalled();
    expect(connection.broken).toBeNull();
  });

  it('fails every open request when the worker crashes, and refuses new ones', () => {
    const worker = new FakeWorker();
    const onBroken = vi.fn();
    const connection = new Connection(worker, { onBroken });
    const heard = [listener(), listener()];
    for (const one of heard) connection.generate(job, one);
    worker.crash('out of memory');
    const crash = expect.objectContaining({
      name: 'WorkerError',
      message: expect.stringContaining('out of memory'),
    });
    for (const one of heard) expect(one.fail).toHaveBeenCalledExactlyOnceWith(crash);
    expect(onBroken).toHaveBeenCalledExactlyOnceWith(crash);
    expect(() => connection.generate(job, listener())).toThrow('out of memory');
    expect(worker.terminated).toBe(true);
  });

  it('asks for memory, and says so where the worker is gone', async () => {
    const worker = new FakeWorker();
    const connection = new Connection(worker);
    worker.answer = () => worker.emit({ type: 'memory', gpuBuffers: 3, gpuBytes: 1024 });
    expect(await connection.memory()).toEqual({ buffers: 3, bytes: 1024 });
    worker.answer = () => worker.crash('boom');
    await expect(connection.memory()).rejects.toMatchObject({ name: 'WorkerError' });
    await expect(connection.memory()).rejects.toMatchObject({ name: 'WorkerError' });
  });

  it('closes when the worker says so', async () => {
    const worker = new FakeWorker();
    const connection = new Connection(worker);
    const heard = listener();
    connection.generate(job, heard);
    worker.answer = ({ type }) => type === 'close' && worker.emit({ type: 'closed' });
    await connection.close();
    expect(heard.fail).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ name: 'EngineClosedError' }),
    );
    expect(worker.terminated).toBe(true);
  });

  it('ends a worker that does not close in time', async () => {
    vi.useFakeTimers();
    try {
      const worker = new FakeWorker();
      const closing = new Connection(worker).close();
      await vi.advanceTimersByTimeAsync(2900);
      expect(worker.terminated).toBe(false);
      await vi.advanceTimersByTimeAsync(200);
      await closing;
      expect(worker.terminated).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });
});
