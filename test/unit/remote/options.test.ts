import { expect, test } from 'vitest';
import { createRemoteEngine, type RemoteEngineOptions } from '../../../src/remote/index.ts';

const baseURL = 'http://localhost:8000/v1';

test.each([
  [{}, 'baseURL'],
  [{ baseURL: '' }, 'baseURL'],
  [{ baseURL: 'localhost' }, 'baseURL'],
  [{ baseURL: 'ftp://host/v1' }, 'baseURL'],
  [{ baseURL: `${baseURL}?key=1` }, 'baseURL'],
  [{ baseURL, model: '' }, 'model'],
  [{ baseURL, apiKey: 3 }, 'apiKey'],
  [{ baseURL, headers: { a: 1 } }, 'headers.a'],
  [{ baseURL, parse: 'both' }, 'parse'],
  [{ baseURL, maxRetries: -1 }, 'maxRetries'],
  [{ baseURL, timeout: 0.5 }, 'timeout'],
  [{ baseURL, idleTimeout: '1' }, 'idleTimeout'],
  [{ baseURL, incompleteToolCalls: 'drop' }, 'incompleteToolCalls'],
  [{ baseURL, reasoningField: 'thoughts' }, 'reasoningField'],
  [{ baseURL, fetch: 'fetch' }, 'fetch'],
  [{ baseURL, tokenizer: 'a/b' }, 'tokenizer'],
  [{ baseURL, parse: 'client' }, 'tokenizer'],
  [{ baseURL, parse: 'client', model: 'alias' }, 'tokenizer'],
  [{ baseURL, parse: 'client', tokenizer: 'no place' }, 'tokenizer'],
  [{ baseURL, parse: 'client', tokenizer: 'a/b', toolParser: 'none-such' }, 'toolParser'],
  [{ baseURL, dtype: 'q4' }, 'dtype'],
])('%j is refused by its name', async (options, param) => {
  const error = await createRemoteEngine(options as RemoteEngineOptions).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'BadRequestError', param });
  expect((error as Error).message).toContain(param.split('.')[0]);
});

test('nothing is sent before the first request', async () => {
  const engine = await createRemoteEngine({
    baseURL: 'http://127.0.0.1:9/v1/',
    fetch: () => {
      throw new Error('it was sent');
    },
  });
  expect(engine.state).toEqual({
    status: 'ready',
    baseURL: 'http://127.0.0.1:9/v1',
    model: { id: null, contextLength: null },
    parse: 'server',
    format: null,
  });
  await engine.close();
});
