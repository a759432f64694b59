import { build, type Plugin, type Rolldown } from 'vite';

/**
 * Vite plugin that adds `tokenprism-sw.js` to a build: the service worker in one file without imports, which a site
 * serves as it is, and which `importScripts` can read.
 *
 * @param entry path of its source
 */
export function serviceWorkerScript(entry: string): Plugin {
  return {
    name: 'tokenprism:service-worker-script',
    apply: 'build',
    async generateBundle() {
      const source = await bundledScript(entry);
      this.emitFile({ type: 'asset', fileName: 'tokenprism-sw.js', source });
    },
  };
}

/** The text of the file. */
export async function bundledScript(entry: string): Promise<string> {
  const built = (await build({
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      target: 'es2022',
      rolldownOptions: { input: entry, output: { format: 'iife' } },
    },
  })) as Rolldown.RolldownOutput;
  return built.output[0].code;
}
