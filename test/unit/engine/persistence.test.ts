/** The browser is asked not to evict a model's files, where they are kept. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createEngine } from '../../../src/engine/engine.ts';
import type { EngineOptions } from '../../../src/engine/options.ts';
import type { StorageReport } from '../../../src/protocol.ts';
import { FakeWorker } from './fake-worker.ts';

const kept: StorageReport = { kept: true, reason: null, persistent: false };

/** An engine whose load has left this with the browser, which answers with `persist`. */
async function load(
  storage: StorageReport | undefined,
  persist: (() => Promise<boolean>) | null,
  options: EngineOptions = {},
) {
  const asked = vi.fn(persist ?? (async () => false));
  vi.stubGlobal('navigator', persist && { storage: { persist: asked } });
  const worker = () => {
    const made = new FakeWorker();
    made.answer = ({ type }) => {
      if (type === 'load') made.emitLoaded(storage && { storage });
      if (type === 'close') made.emit({ type: 'closed' });
    };
    return made as unknown as Worker;
  };
  const engine = await createEngine({ reasoningParser: 'qwen3', toolParser: 'hermes', worker, ...options });
  const states: (boolean | null | undefined)[] = [];
  engine.addEventListener('state', () => states.push(engine.state.model.storage?.persistent));
  await new Promise((resolve) => setTimeout(resolve));
  return { engine, asked, states };
}

describe('files that are kept', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('are there for good where the browser agrees, and the state says so', async () => {
    const { engine, asked, states } = await load(kept, async () => {
      await new Promise((resolve) => setTimeout(resolve));
      return true;
    });
    await expect.poll(() => states).toEqual([true]);
    expect(asked).toHaveBeenCalledOnce();
    expect(engine.state.model.storage).toEqual({ kept: true, reason: null, persistent: true });
  });

  it('may be evicted where it refuses or fails, which is no error', async () => {
    for (const persist of [async () => false, () => Promise.reject(new TypeError('not here'))]) {
      const { engine, asked, states } = await load(kept, persist);
      expect(asked).toHaveBeenCalledOnce();
      expect(states).toEqual([]);
      expect(engine.state).toMatchObject({ status: 'ready', model: { storage: kept } });
    }
  });

  it('are not waited for while a user thinks about it, nor told of once the engine is closed', async () => {
    let agree = (_: boolean) => {};
    const { engine, states } = await load(kept, () => new Promise((resolve) => (agree = resolve)));
    expect(engine.state).toMatchObject({ status: 'ready', model: { storage: kept } });
    await engine.close();
    agree(true);
    await new Promise((resolve) => setTimeout(resolve));
    expect(states).toEqual([false]);
  });

  it('are not asked for where none are, where it has agreed, and where the application does it', async () => {
    const agree = async () => true;
    for (const storage of [
      undefined,
      { ...kept, kept: false, reason: 'no room' },
      { ...kept, persistent: true },
    ]) {
      expect((await load(storage, agree)).asked).not.toHaveBeenCalled();
    }
    expect((await load(kept, agree, { persist: false })).asked).not.toHaveBeenCalled();
    await expect(load(kept, agree, { persist: 'yes' as never })).rejects.toMatchObject({ param: 'persist' });
  });

  it('are not asked for where there is nobody to ask', async () => {
    const { engine } = await load(kept, null);
    expect(engine.state.model.storage).toEqual(kept);
  });
});
