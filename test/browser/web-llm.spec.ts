/** web-llm in a real worker, over a made-up runtime on a real device. */
import { readFileSync } from 'node:fs';
import { packageWith } from '../web-llm/package.ts';
import { expect, test } from './harness/fixture.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

/** Writes "Paris"; its device is lost in the second answer. */
const model = (files: Record<string, string>) => `
const encode = (text) => new TextEncoder().encode(text);
const paris = ${JSON.stringify(parisIds())};
let losses = 0;
const { runtime: fakeRuntime } = createFakeRuntime({
  vocabularySize: 2048,
  files: Object.fromEntries(Object.entries(${JSON.stringify(files)}).map(([name, text]) => [name, encode(text)])),
  answer({ tokens, generated, turn, lose }) {
    if (turn === 2 && generated === 1 && losses++ === 0) {
      lose();
      return new Promise(() => {});
    }
    // By the last token, for what is read again after the loss is no prompt.
    return paris[paris.indexOf(tokens.at(-1)) + 1] ?? 2041;
  },
});
`;

function parisIds(): number[] {
  const { model: vocabulary } = JSON.parse(read('../../models/tiny/tokenizer.json')) as {
    model: { vocab: Record<string, number> };
  };
  return [...'Paris'].map((letter) => vocabulary.vocab[letter]!);
}

const files = {
  'mlc-chat-config.json': JSON.stringify({
    model_type: 'qwen3',
    quantization: 'q4f32_1',
    vocab_size: 2048,
    context_window_size: 512,
    sliding_window_size: -1,
    attention_sink_size: -1,
    tokenizer_files: ['tokenizer.json'],
    tokenizer_info: { token_postproc_method: 'byte_level' },
    conv_template: {
      system_template: '{system_message}',
      system_message: '',
      roles: { user: 'user', assistant: 'assistant' },
      seps: ['\n'],
      stop_str: [],
      stop_token_ids: [2041],
    },
  }),
  'tensor-cache.json': JSON.stringify({ records: [] }),
  'tokenizer.json': read('../../models/tiny/tokenizer.json'),
  'tokenizer_config.json': read('../../models/tiny/tokenizer_config.json'),
  'model.wasm': '-',
};

test('answers, and goes on with an answer after the loss of its device', async ({
  page,
  context,
  origin,
}) => {
  const runtime = read('../web-llm/fake-runtime.mjs').replace('export function', 'function');
  const body = `${runtime}\n${model(files)}\n${packageWith('fakeRuntime')}`;
  await context.route(`${origin}/web-llm-model/**`, (route) => {
    const name = new URL(route.request().url()).pathname.split('/').pop()!;
    if (name === 'web-llm.js') return route.fulfill({ contentType: 'text/javascript', body });
    const file = files[name as keyof typeof files];
    return file === undefined ? route.fulfill({ status: 404 }) : route.fulfill({ body: file });
  });
  const seen = await page.evaluate(async () => {
    const { createEngine } = window.tokenprism;
    const engine = await createEngine({
      backend: 'web-llm',
      model: '/web-llm-model/',
      webLlm: { module: '/web-llm-model/web-llm.js', modelLib: '/web-llm-model/model.wasm' },
    });
    const ask = async () => {
      const answer = await engine.completions.create({ prompt: `Capital? ${Math.random()}`, max_tokens: 20 });
      return answer.choices[0]!.text;
    };
    const { sampling, limits } = engine.state.device;
    const said: string[] = [];
    for (let round = 0; round < 4; round++) said.push(await ask());
    const { recoveries } = engine.state;
    await engine.close();
    return { sampling, limits, said, recoveries };
  });
  expect(seen).toMatchObject({ sampling: 'gpu', limits: [] });
  expect(seen.said).toEqual(['Paris', 'Paris', 'Paris', 'Paris']);
  expect(seen.recoveries).toBeGreaterThan(0);
});
