/**
 * TVM's runtime as web-llm uses it, on arrays in memory, with a model that is a function. Everything of web-llm above it
 * runs unchanged: engine, pipeline, tokenizer. It says nothing of GPU kernels. Plain JavaScript, for it is also sent to
 * workers as text.
 *
 * @param {{
 *   vocabularySize: number,
 *   prefillChunkSize?: number,
 *   files: Record<string, Uint8Array>,
 *   answer(state: { tokens: number[], generated: number, turn: number, lose: () => void }): number | Float32Array | Promise<never>,
 * }} model `answer` gives the token that shall follow, or a row of logits; `files` by name, as web-llm asks for them
 */
export function createFakeRuntime({ vocabularySize, prefillChunkSize = 64, files, answer }) {
  /** What was done, for tests. */
  const log = {
    /** Tokens of each pass. */
    passes: [],
    /** Words of masks that were applied on the device. */
    masks: [],
    /** Rows that were copied to memory. */
    rowsRead: 0,
    seeds: [],
    /** Random numbers that the sampler took. */
    points: [],
    temperatures: [],
    topP: [],
    biases: [],
    penalties: [],
    deletedCaches: [],
    live: 0,
    device: null,
  };
  const state = { tokens: [], promptLength: null, turn: -1 };
  let fault = null;

  class Scalar {
    constructor(value, dtype) {
      this.value = value;
      this.dtype = dtype;
    }
  }

  class Tensor {
    constructor(shape, dtype, place, data) {
      this.shape = shape;
      this.dtype = dtype;
      this.place = place;
      const size = shape.reduce((product, length) => product * length, 1);
      this.data = data ?? new (dtype === 'float32' ? Float32Array : Int32Array)(size);
      if (!data) log.live++;
      this.isView = data !== undefined;
    }
    copyFrom(source) {
      const values = source instanceof Tensor ? source.data : source;
      if (values.length !== this.data.length) throw new Error('data size and shape mismatch');
      const isDownload = source instanceof Tensor && source.place === 'webgpu' && this.place === 'cpu';
      if (isDownload && values.length >= vocabularySize) log.rowsRead++;
      this.data.set(values);
      return this;
    }
    view(shape) {
      return new Tensor(shape, this.dtype, this.place, this.data);
    }
    toArray() {
      return this.data;
    }
    dispose() {
      if (this.isDisposed) throw new Error('disposed twice');
      this.isDisposed = true;
      if (!this.isView) log.live--;
    }
  }

  const packed = (call) => Object.assign((...given) => call(...given), { dispose: () => {} });
  const list = (...items) => ({ get: (index) => items[index], dispose: () => {} });

  /** The row after the tokens read. The model answers when it is used: until then nobody knows where a prompt ends. */
  function logitsNow() {
    const tensor = new Tensor([1, 1, vocabularySize], 'float32', 'webgpu');
    const row = tensor.data;
    let isFilled = false;
    Object.defineProperty(tensor, 'data', {
      get: () => {
        if (!isFilled) fill(row);
        isFilled = true;
        return row;
      },
    });
    return tensor;
  }

  function fill(row) {
    state.promptLength ??= state.tokens.length;
    const given = answer({
      tokens: [...state.tokens],
      generated: state.tokens.length - state.promptLength,
      turn: state.turn,
      lose: () => log.device?.destroy(),
    });
    row.fill(-10);
    if (typeof given === 'number') row[given] = 10;
    else if (given instanceof Promise) fault = given;
    else row.set(given);
  }

  function run(ids) {
    log.passes.push(ids);
    state.tokens.push(...ids);
    return list(logitsNow());
  }

  const functions = {
    _metadata: () => ({
      toString: () =>
        JSON.stringify({ params: [], prefill_chunk_size: prefillChunkSize, kv_state_kind: 'kv_cache' }),
    }),
    embed: (ids) => new Tensor([ids.data.length, 1], 'float32', 'webgpu', Float32Array.from(ids.data)),
    prefill: (embeddings) => run([...embeddings.data]),
    decode: (embeddings) => run([...embeddings.data]),
    create_tir_paged_kv_cache: () => ({ dispose: () => {} }),
    apply_bitmask_inplace: (logits, _ids, mask) => {
      log.masks.push(Int32Array.from(mask.data));
      for (let id = 0; id < vocabularySize; id++) {
        if (!((mask.data[id >>> 5] >>> (id & 31)) & 1)) logits.data[id] = -Infinity;
      }
    },
    apply_logit_bias_inplace: (logits, _positions, ids, values) => {
      log.biases.push(Object.fromEntries([...ids.data].map((id, index) => [id, values.data[index]])));
      for (const [index, id] of ids.data.entries()) logits.data[id] += values.data[index];
    },
    apply_penalty_inplace: (logits, _seq, _positions, ids, counts, penalties) => {
      const [presence, frequency, repetition] = penalties.data;
      log.penalties.push({ ids: [...ids.data], presence, frequency, repetition });
      for (const [index, id] of ids.data.entries()) {
        const value = logits.data[id] - presence - frequency * counts.data[index];
        logits.data[id] = value > 0 ? value / repetition : value * repetition;
      }
    },
    softmax_with_temperature: (logits, temperatures) => {
      const temperature = temperatures.data[0];
      log.temperatures.push(temperature);
      const largest = logits.data.reduce((most, value) => Math.max(most, value), -Infinity);
      const weights = Float32Array.from(logits.data, (value) => Math.exp((value - largest) / temperature));
      const sum = weights.reduce((total, weight) => total + weight, 0);
      return new Tensor(
        logits.shape,
        'float32',
        'webgpu',
        weights.map((weight) => weight / sum),
      );
    },
    argsort_probs: (probabilities) => {
      const ids = [...probabilities.data.keys()].sort(
        (a, b) => probabilities.data[b] - probabilities.data[a],
      );
      const sorted = Float32Array.from(ids, (id) => probabilities.data[id]);
      const shape = probabilities.shape;
      return list(
        new Tensor(shape, 'float32', 'webgpu', sorted),
        new Tensor(shape, 'int32', 'webgpu', Int32Array.from(ids)),
      );
    },
    sample_with_top_p: (sorted, ids, points, _indices, topP) => {
      log.topP.push(topP.data[0]);
      log.points.push(points.data[0]);
      let kept = 0;
      let count = 0;
      while (count < sorted.data.length && (count === 0 || kept < topP.data[0])) kept += sorted.data[count++];
      let reached = 0;
      let index = 0;
      while (index < count - 1 && reached + sorted.data[index] < points.data[0] * kept)
        reached += sorted.data[index++];
      return new Tensor([1], 'int32', 'webgpu', Int32Array.of(Number.isNaN(kept) ? -1 : ids.data[index]));
    },
  };

  const kvFunctions = {
    'vm.builtin.kv_state_clear': () => {
      Object.assign(state, { tokens: [], promptLength: null, turn: state.turn + 1 });
    },
  };

  function createInstance() {
    let seed = 1;
    const device = {
      sync: async () => {
        if (!fault) return;
        const pending = fault;
        fault = null;
        await pending;
      },
    };
    return {
      beginScope: () => {},
      endScope: () => {},
      detachFromCurrentScope: (value) => value,
      attachToCurrentScope: (value) => value,
      webgpu: () => device,
      cpu: () => 'cpu',
      empty: (shape, dtype, place) => new Tensor(shape, dtype, place === 'cpu' ? 'cpu' : 'webgpu'),
      uniform: () => {
        seed = (seed * 48271) % 2147483647;
        return new Tensor([1], 'float32', 'webgpu', Float32Array.of(seed / 2147483647));
      },
      setSeed: (given) => {
        if (!Number.isInteger(given)) throw new Error('Seed should be an integer.');
        log.seeds.push(given);
        seed = given % 2147483647 || 1;
      },
      makeShapeTuple: (shape) => shape,
      createVirtualMachine: () => ({
        getFunction: (name) => {
          if (!functions[name]) throw new Error(`no function ${name}`);
          return packed(functions[name]);
        },
        getInternalModule: () => null,
        dispose: () => {},
      }),
      getGlobalFunc: (name) => packed(kvFunctions[name] ?? (() => {})),
      getParamsFromCacheByName: () => ({ dispose: () => {} }),
      registerInitProgressCallback(callback) {
        this.tell = callback;
      },
      async fetchTensorCache(base) {
        this.tell?.({ progress: 0, timeElapsed: 0, text: 'Start to fetch params' });
        await fetchFile(new URL('tensor-cache.json', base).href);
        this.tell?.({ progress: 1, timeElapsed: 0, text: 'Fetching param cache[1/1]: 1MB fetched.' });
        this.tell?.({ progress: 1, timeElapsed: 0, text: 'Loading model from cache[1/1]: 1MB loaded.' });
      },
      async asyncLoadWebGPUPipelines() {
        this.tell?.({ progress: 1, timeElapsed: 0, text: 'Loading GPU shader modules[1/1]: ' });
      },
      initWebGPU: () => {},
      dispose: () => {},
    };
  }

  async function fetchFile(url) {
    const bytes = files[new URL(url).pathname.split('/').pop()];
    if (bytes === undefined)
      throw new TypeError(`Failed to execute 'add' on 'Cache': Request failed (${url})`);
    if (bytes instanceof Error) throw bytes;
    return bytes.slice().buffer;
  }

  const runtime = {
    Scalar,
    createPolyfillWASI: () => ({}),
    instantiate: async () => createInstance(),
    detectGPUDevice: async () => {
      const adapter = await globalThis.navigator.gpu.requestAdapter();
      const device = await adapter.requestDevice();
      log.device = device;
      return { adapter, device, adapterInfo: { description: 'fake', vendor: 'fake' } };
    },
    createArtifactCache: () => ({ fetchWithCache: fetchFile, deleteInCache: async () => {} }),
    hasTensorInCache: async () => true,
    deleteTensorCache: async (url) => {
      log.deletedCaches.push(url);
    },
  };
  return { runtime, log };
}
