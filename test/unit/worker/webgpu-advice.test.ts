import { afterEach, describe, expect, it, vi } from 'vitest';
import { WebGPUUnavailableError } from '../../../src/errors.ts';
import { chooseTarget } from '../../../worker/backends/onnx/target.ts';
import { webGpuAdvice } from '../../../worker/backends/onnx/webgpu-advice.ts';

const like = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const chrome = (system: string, more = '') =>
  `Mozilla/5.0 (${system}) ${like} Chrome/146.0.0.0 Safari/537.36${more}`;
const agents = {
  'Chrome on Windows': chrome('Windows NT 10.0; Win64; x64'),
  'Chrome on Linux': chrome('X11; Linux x86_64'),
  'Chrome on Android': chrome('Linux; Android 10; K'),
  'Edge on Windows': chrome('Windows NT 10.0; Win64; x64', ' Edg/146.0.0.0'),
  'Chrome on iPhone': `Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) ${like} CriOS/146.0 Mobile/15E148 Safari/604.1`,
  'Safari on Mac': `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${like} Version/18.5 Safari/605.1.15`,
  'Firefox on Mac': 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:150.0) Gecko/20100101 Firefox/150.0',
  'Firefox on Linux': 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0',
} as const;

describe('what to do where there is no WebGPU', () => {
  it.each<[keyof typeof agents, 'interface' | 'adapter', RegExp]>([
    ['Chrome on Windows', 'interface', /from version 113 on.*chrome:\/\/flags\/#enable-unsafe-webgpu/],
    ['Chrome on Windows', 'adapter', /chrome:\/\/settings\/system.*chrome:\/\/gpu/],
    ['Chrome on Linux', 'interface', /NVIDIA.*--enable-unsafe-webgpu --enable-features=Vulkan/],
    ['Chrome on Android', 'interface', /Android 12 .*121/],
    ['Edge on Windows', 'adapter', /edge:\/\/settings\/system.*edge:\/\/gpu/],
    ['Chrome on iPhone', 'interface', /iOS and iPadOS 26/],
    ['Safari on Mac', 'interface', /Safari .*26.*Feature Flags/],
    ['Firefox on Mac', 'interface', /Apple silicon from version 147.*dom\.webgpu\.enabled/],
    ['Firefox on Linux', 'interface', /only in Nightly/],
  ])('%s, no %s', (browser, missing, advice) => {
    expect(webGpuAdvice(agents[browser], missing)).toMatch(advice);
  });

  it('of a browser that is not known names those that have it', () => {
    expect(webGpuAdvice('', 'interface')).toMatch(/Chrome.*Safari.*Firefox/);
    expect(webGpuAdvice('', 'adapter')).toMatch(/hardware acceleration/);
  });
});

describe('a device that is asked for and not there', () => {
  afterEach(() => vi.unstubAllGlobals());

  const choose = (navigator: object) => {
    vi.stubGlobal('navigator', navigator);
    return chooseTarget('webgpu').then(
      () => 'chosen',
      (error: Error) => error,
    );
  };

  it('is an error that says why, and what to switch on', async () => {
    const without = await choose({ userAgent: agents['Safari on Mac'] });
    expect(without).toBeInstanceOf(WebGPUUnavailableError);
    expect((without as Error).message).toBe(
      'WebGPU was asked for, but this browser has no WebGPU. Safari has WebGPU from version 26 on; in Safari 18, ' +
        "switch it on in Develop › Feature Flags. Device 'auto' or 'wasm' runs without it.",
    );
    const gpu = { requestAdapter: async () => null };
    const noAdapter = await choose({ gpu, userAgent: agents['Edge on Windows'] });
    expect((noAdapter as Error).message).toMatch(/no adapter for this machine\. Switch on graphics .*edge:/);
    vi.stubGlobal('isSecureContext', false);
    const insecure = await choose({ userAgent: agents['Chrome on Windows'] });
    expect((insecure as Error).message).toMatch(/needs a secure context\. Serve the page over https/);
  });
});
