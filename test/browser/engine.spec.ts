/** The engine in a real browser with its real worker; the answers come from the scripted backend. */
import { expect, test } from './harness/fixture.ts';

const thought = '<think>\nI look it up.\n</think>\n\n';
const call = '<tool_call>\n{"name": "get_weather", "arguments": {"location": "Rome"}}\n</tool_call>';

test('splits and streams an answer, and reports what runs', async ({ page }) => {
  const result = await page.evaluate(
    async ([text]) => {
      const progress: string[] = [];
      const engine = await window.tokenprism.createScriptedEngine([text!], {
        onProgress: ({ phase, overall }) => progress.push(`${phase} ${overall.loaded <= overall.total}`),
      });
      const tools = [
        { type: 'function' as const, function: { name: 'get_weather', parameters: { type: 'object' } } },
      ];
      const messages = [{ role: 'user' as const, content: 'Weather in Rome?' }];
      const stream = await engine.chat.completions.create({
        messages,
        tools,
        stream: true,
        stream_options: { include_usage: true },
        include_details: true,
      });
      const chunks = [];
      for await (const chunk of stream) chunks.push(chunk);
      const collected = await engine.chat.completions.create({ messages, tools });
      const state = engine.state;
      await engine.close();
      return { chunks, collected, state: { ...state, closed: engine.state.status }, progress };
    },
    [`${thought}Moment.\n${call}`],
  );
  expect(result.state).toMatchObject({
    status: 'ready',
    closed: 'closed',
    model: { id: 'tokenprism-tiny', modelType: 'qwen3' },
    device: { device: 'scripted' },
    format: { reasoning: 'qwen3', tools: 'hermes', source: 'template', warning: null },
  });
  expect(new Set(result.progress)).toContain('download true');
  const deltas = result.chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
  const message = result.collected.choices[0]!.message;
  expect(deltas[0]).toEqual({ role: 'assistant' });
  expect(deltas.map(({ reasoning }) => reasoning ?? '').join('')).toBe('I look it up.');
  expect(deltas.filter(({ reasoning }) => reasoning).length).toBeGreaterThan(2);
  expect(deltas.map(({ content }) => content ?? '').join('')).toBe('Moment.');
  expect(message).toMatchObject({ reasoning: 'I look it up.', content: 'Moment.' });
  expect(JSON.parse(message.tool_calls?.[0]?.function.arguments ?? '')).toEqual({ location: 'Rome' });
  const last = result.chunks.at(-1)!;
  // The second request finds its prompt read, but for the last token.
  expect(last.usage?.prompt_tokens_details).toEqual({ cached_tokens: 0 });
  const cached_tokens = last.usage!.prompt_tokens - 1;
  expect(result.collected.usage).toEqual({ ...last.usage, prompt_tokens_details: { cached_tokens } });
  expect(last.tokenprism?.prompt).toContain('Weather in Rome?');
  expect(last.tokenprism?.timings.timeToFirstToken).toBeGreaterThan(0);
});

test('stops at a stop string, with the same usage whenever the cut arrives', async ({ page }) => {
  const answers = await page.evaluate(async (text) => {
    const answers = [];
    for (const delay of [0, 4]) {
      const engine = await window.tokenprism.createScriptedEngine([{ text, delay }]);
      answers.push(
        await engine.chat.completions.create({
          messages: [{ role: 'user', content: 'Count.' }],
          stop: ' four',
        }),
      );
      await engine.close();
    }
    return answers;
  }, `${thought}One two three four five six seven.`);
  for (const answer of answers) {
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'One two three' } });
    expect(answer.usage).toEqual(answers[0]!.usage);
  }
});

test('queues requests, and an abort or a left loop frees the model at once', async ({ page }) => {
  const result = await page.evaluate(async (text) => {
    // 60 tokens of 25 ms each: what is not aborted at once would be seen.
    const long = `${text}${'one two three '.repeat(30)}`;
    const engine = await window.tokenprism.createScriptedEngine([
      { text: long, delay: 25 },
      { text: long, delay: 25 },
      { text: `${text}Short.` },
    ]);
    const messages = [{ role: 'user' as const, content: 'Count.' }];
    const { completions } = engine.chat;
    const states: string[] = [];
    const left = await completions.create({ messages, stream: true });
    const controller = new AbortController();
    const aborted = completions
      .create({ messages }, { signal: controller.signal, onProgress: ({ state }) => states.push(state) })
      .catch((error: Error) => error.name);
    const next = completions.create({ messages });
    let deltas = 0;
    for await (const chunk of left) if (chunk.choices[0]?.delta.reasoning && ++deltas === 3) break;
    const leftAt = performance.now();
    while (!states.includes('decoding')) await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort();
    const name = await aborted;
    const answer = await next;
    const milliseconds = performance.now() - leftAt;
    await engine.close();
    return { name, content: answer.choices[0]?.message.content, states, milliseconds };
  }, thought);
  expect(result.name).toBe('AbortError');
  expect(result.content).toBe('Short.');
  expect(result.states[0]).toBe('queued');
  expect(result.milliseconds).toBeLessThan(1000);
});

test('does not hold up the worker for a reader that is slow or gone', async ({ page }) => {
  const content = await page.evaluate(async (text) => {
    const engine = await window.tokenprism.createScriptedEngine([text]);
    const messages = [{ role: 'user' as const, content: 'Hi' }];
    await engine.chat.completions.create({ messages, stream: true });
    const answer = await engine.chat.completions.create({ messages });
    await engine.close();
    return answer.choices[0]?.message.content;
  }, `${thought}Here.`);
  expect(content).toBe('Here.');
});

test('goes on with a stream whose device is lost, and answers the next request', async ({ page }) => {
  const result = await page.evaluate(async (text) => {
    const engine = await window.tokenprism.createScriptedEngine([
      { text: `${text}Lost.`, loseDeviceAt: 6 },
      { text: `${text}Found.` },
    ]);
    const statuses: string[] = [];
    engine.addEventListener('state', () => statuses.push(engine.state.status));
    const messages = [{ role: 'user' as const, content: 'Hi' }];
    const { completions } = engine.chat;
    let seen = '';
    for await (const chunk of await completions.create({ messages, stream: true }))
      seen += chunk.choices[0]?.delta.content ?? '';
    const answer = await completions.create({ messages });
    await engine.close();
    return { seen, content: answer.choices[0]?.message.content, statuses };
  }, thought);
  expect(result).toMatchObject({ seen: 'Lost.', content: 'Found.' });
  expect(result.statuses).toEqual(['recovering', 'ready', 'closed']);
});

test('names what is wrong before anything runs', async ({ page }) => {
  const errors = await page.evaluate(async () => {
    const { createScriptedEngine, createEngine, BadRequestError, TokenprismError } = window.tokenprism;
    const engine = await createScriptedEngine(['Hi']);
    const messages = [{ role: 'user' as const, content: 'Hi' }];
    const long = [{ role: 'user' as const, content: 'word '.repeat(4000) }];
    const caught = [];
    const attempts = [
      () => engine.chat.completions.create({ messages, temperature: 5 }),
      () => engine.chat.completions.create({ messages: long }),
      () => engine.chat.completions.create({ messages, model: 'other' }),
      () => createScriptedEngine(['Hi'], { toolParser: 'nope' }),
      () => createEngine({ worker: () => new Worker('/no-such-worker.js', { type: 'module' }) }),
    ];
    for (const attempt of attempts) {
      try {
        await attempt();
        caught.push('nothing');
      } catch (error) {
        if (!(error instanceof TokenprismError)) throw error;
        caught.push({
          name: error.name,
          isBadRequest: error instanceof BadRequestError,
          code: error.code,
          param: error.param,
        });
      }
    }
    await engine.close();
    return caught;
  });
  expect(errors).toEqual([
    { name: 'BadRequestError', isBadRequest: true, code: 'decimal_above_max_value', param: 'temperature' },
    { name: 'BadRequestError', isBadRequest: true, code: 'context_length_exceeded', param: 'messages' },
    { name: 'ModelNotFoundError', isBadRequest: false, code: 'model_not_found', param: 'model' },
    { name: 'BadRequestError', isBadRequest: true, code: 'unknown_format', param: 'toolParser' },
    { name: 'WorkerError', isBadRequest: false, code: 'worker_crashed', param: null },
  ]);
});

test('goes on with a stream whose worker crashes, or is ended without a word', async ({ page }) => {
  const result = await page.evaluate(async (text) => {
    const workers: Worker[] = [];
    const engine = await window.tokenprism.createScriptedEngine(
      [
        { text: `${text}Here.`, crashAt: 4 },
        { text: `${text}There.`, delay: 20 },
      ],
      {
        worker: () => {
          const worker = window.startWorker();
          workers.push(worker);
          return worker;
        },
      },
    );
    const errors: (string | null)[] = [];
    engine.addEventListener('state', () => errors.push(engine.state.error?.code ?? null));
    const messages = [{ role: 'user' as const, content: 'Hi' }];
    const { completions } = engine.chat;
    const crashed = await completions.create({ messages });
    const stream = await completions.create({ messages, stream: true });
    let seen = '';
    let isEnded = false;
    for await (const chunk of stream) {
      seen += chunk.choices[0]?.delta.content ?? '';
      // As a browser does that is short of memory.
      if (!isEnded && chunk.choices[0]?.delta.reasoning) workers[1]!.terminate();
      isEnded ||= Boolean(chunk.choices[0]?.delta.reasoning);
    }
    const { recoveries } = engine.state;
    await engine.close();
    return {
      contents: [crashed.choices[0]?.message.content, seen],
      errors,
      recoveries,
      workers: workers.length,
    };
  }, thought);
  expect(result).toEqual({
    contents: ['Here.', 'There.'],
    // The last one: closed.
    errors: ['worker_crashed', null, 'worker_ended', null, null],
    recoveries: 2,
    workers: 3,
  });
});
