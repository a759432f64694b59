import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createHandler } from '../../../src/service-worker/handler.ts';
import { checkServiceOptions, type ServiceOptions } from '../../../src/service-worker/options.ts';

beforeEach(() => {
  vi.stubGlobal('document', { baseURI: 'https://example.com/chat/1' });
});
afterEach(() => vi.unstubAllGlobals());

const engine = () => ({ fetch, close: async () => {} });

test.each<[object, string, string]>([
  [{ path: '/v1' }, 'path', 'it has engine, scriptURL, registration, basePath, host'],
  [{ basePath: 'v1' }, 'basePath', 'such as "/v1"; got "v1"'],
  [{ basePath: '/v1/' }, 'basePath', 'without a slash at its end'],
  [{ basePath: '/a/../v1' }, 'basePath', 'must be a path from the root'],
  [{ host: 'page' }, 'host', 'auto, shared-worker, tab; got "page"'],
  [{ host: 'shared-worker', engine }, 'host', "A function can't be sent"],
  [{ host: 'shared-worker', engine: { worker: () => null } }, 'engine.worker', 'runs the model itself'],
  [{ engine: { signal: null } }, 'engine.signal', 'call close()'],
  [{ engine: { device: 'gpu' } }, 'device', 'auto, webgpu, wasm'],
  [{ scriptURL: '/sw.js', registration: {} }, 'registration', 'exclude each other'],
  [{ scriptURL: 1 }, 'scriptURL', 'must be a string'],
])('%j is refused', (options, param, message) => {
  const check = () => checkServiceOptions(options as ServiceOptions);
  expect(check).toThrow(expect.objectContaining({ name: 'BadRequestError', param }));
  expect(check).toThrow(message);
});

test("a base path goes with the script's address, where it is not the default", () => {
  const script = (options: ServiceOptions) => checkServiceOptions({ engine, ...options }).script;
  expect(script({})).toBe('https://example.com/tokenprism-sw.js');
  expect(script({ basePath: '/ai/v1' })).toBe('https://example.com/tokenprism-sw.js?basePath=%2Fai%2Fv1');
  expect(script({ basePath: '/ai/v1', scriptURL: 'sw.js?a=b' })).toBe(
    'https://example.com/chat/sw.js?a=b&basePath=%2Fai%2Fv1',
  );
});

test('createHandler names wrong options', () => {
  expect(() => createHandler({ basePath: 'v1' })).toThrow(expect.objectContaining({ param: 'basePath' }));
  expect(() => createHandler({ path: '/v1' } as object)).toThrow("no option 'path'; it has basePath");
});
