/** What is missing of WebGPU: the interface, or an adapter behind it. */
export type MissingWebGpu = 'interface' | 'adapter';

/**
 * What to switch on or to update, by browser and system, in sentences for people; by the implementation status that the
 * specification's group keeps (https://github.com/gpuweb/gpuweb/wiki/Implementation-Status).
 *
 * @param userAgent of the browser; browsers name each other there, so the order of the questions counts
 */
export function webGpuAdvice(userAgent: string, missing: MissingWebGpu): string {
  // All browsers of iOS are WebKit's.
  if (/iPhone|iPad|iPod/.test(userAgent)) return 'On iPhone and iPad, WebGPU comes with iOS and iPadOS 26.';
  if (/Firefox\//.test(userAgent)) return firefox(userAgent);
  if (/Chrome\//.test(userAgent)) return chromium(userAgent, missing);
  if (/Safari\//.test(userAgent)) {
    return missing === 'interface'
      ? 'Safari has WebGPU from version 26 on; in Safari 18, switch it on in Develop › Feature Flags.'
      : 'Restart Safari, and update macOS.';
  }
  return missing === 'interface'
    ? 'Chrome and Edge have it from version 113 on, Safari from 26 on, Firefox from 141 on Windows.'
    : 'Update the graphics driver, and switch hardware acceleration on in the settings of the browser.';
}

function firefox(userAgent: string): string {
  const where = /Windows/.test(userAgent)
    ? 'on Windows from version 141 on'
    : /Macintosh/.test(userAgent)
      ? 'on Macs with Apple silicon from version 147 on'
      : 'on this system only in Nightly';
  return `Firefox has WebGPU ${where}, if dom.webgpu.enabled in about:config is true; about:support says how it stands.`;
}

function chromium(userAgent: string, missing: MissingWebGpu): string {
  const scheme = /Edg\//.test(userAgent) ? 'edge' : 'chrome';
  const flag = `${scheme}://flags/#enable-unsafe-webgpu`;
  if (missing === 'adapter') {
    return (
      `Switch on graphics acceleration in ${scheme}://settings/system and update the graphics driver; ${scheme}://gpu ` +
      `says what is wrong. ${flag} allows GPUs that the browser does not trust.`
    );
  }
  if (/Android/.test(userAgent)) {
    return `Chrome has WebGPU on Android 12 and later from version 121 on; ${flag} allows more GPUs.`;
  }
  if (/Linux/.test(userAgent)) {
    return `On Linux, Chrome has WebGPU for Intel GPUs (Gen12 and later) from version 144 on and for NVIDIA's from 147 on; for others, start it with --enable-unsafe-webgpu --enable-features=Vulkan.`;
  }
  return `Chrome and Edge have WebGPU from version 113 on; update the browser, or switch on ${flag}.`;
}
