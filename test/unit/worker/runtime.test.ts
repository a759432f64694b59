import { expect, it } from 'vitest';
import { configureRuntime, startRuntime } from '../../../worker/backends/onnx/runtime.ts';

// A file of its own: the runtime starts once, and does not try again.
it('a runtime that does not start says what to look at', async () => {
  configureRuntime({ bytes: Uint8Array.of(1, 2, 3, 4) });
  await expect(startRuntime()).rejects.toMatchObject({
    code: 'runtime_failed',
    message: expect.stringMatching(/ONNX Runtime does not start: .*WebAssembly/s),
  });
});
