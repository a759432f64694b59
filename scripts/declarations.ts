import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

/** `from './x.ts'` and `import('./x.ts')`: correct in our sources, wrong beside a `.js` file in a package. */
const sourceImport = /((?:from|import)\s*\(?\s*['"]\.{1,2}\/[^'"]*)\.ts(['"])/g;

/** Vite plugin that writes the TypeScript declarations of the library after a build; a type error fails the build. */
export function declarations({ root, outDir }: { root: string; outDir: string }): Plugin {
  return {
    name: 'tokenprism:declarations',
    apply: 'build',
    closeBundle() {
      const compiler = join(root, 'node_modules/typescript/bin/tsc');
      const project = join(root, 'tsconfig.declarations.json');
      const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', project, '--outDir', outDir], {
        cwd: root,
        encoding: 'utf8',
      });
      if (status !== 0) throw new Error(`The declarations could not be made:\n${stdout}`);
      for (const name of readdirSync(outDir, { recursive: true, encoding: 'utf8' })) {
        if (!name.endsWith('.d.ts')) continue;
        const file = join(outDir, name);
        writeFileSync(file, readFileSync(file, 'utf8').replace(sourceImport, '$1.js$2'));
      }
    },
  };
}
