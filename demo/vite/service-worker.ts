import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { isOwnBuild } from './own-build.ts';

/** Writes `sw.js`: the service worker with the list of all files of the build, and a version that their contents make. */
export function serviceWorker({ source, publicFolder }: { source: string; publicFolder: string }): Plugin {
  return {
    name: 'tokenprism-demo:service-worker',
    apply: isOwnBuild,
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        const hash = createHash('sha256');
        const files = Object.values(bundle).map((output) => {
          hash.update(output.type === 'chunk' ? output.code : output.source);
          return output.fileName;
        });
        for (const name of readdirSync(publicFolder, { recursive: true, withFileTypes: true })) {
          if (!name.isFile()) continue;
          const path = join(name.parentPath, name.name);
          hash.update(readFileSync(path));
          files.push(path.slice(publicFolder.length).replaceAll('\\', '/').replace(/^\//, ''));
        }
        const code = readFileSync(source, 'utf8');
        const version = hash.update(code).digest('hex').slice(0, 16);
        this.emitFile({
          type: 'asset',
          fileName: 'sw.js',
          source: code
            .replace("'BUILD_VERSION'", JSON.stringify(version))
            .replace("'BUILD_FILES'", JSON.stringify(files.sort())),
        });
      },
    },
  };
}
