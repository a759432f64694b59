import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { packagesWithoutNotice } from '../../../scripts/bundled-licences.ts';
import { licencesDocument } from '../../../scripts/licences.mjs';

const read = (path: string) =>
  readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');

/** None of them asks anything of an application but to be named. */
const permissive = ['MIT', 'Apache-2.0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause'];
/** Of tools, which are not distributed. */
const ofTools = [...permissive, 'MPL-2.0'];

describe('licences', () => {
  it('docs/licences.md is what the lock file says', () => {
    expect(read('docs/licences.md'), 'run npm run licences').toBe(licencesDocument());
  });

  it('of all that is installed are known, and permit what is done', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { license?: string; dev?: boolean }>;
    };
    for (const [path, { license = 'none', dev }] of Object.entries(packages)) {
      const choices = license.replace(/^\(|\)$/g, '').split(' OR ');
      const isGood = choices.some((choice) => (dev ? ofTools : permissive).includes(choice));
      expect(isGood, `${path}: ${license}`).toBe(true);
    }
  });

  it('a bundle is held to NOTICE by the names of its packages, the innermost ones', () => {
    const modules = [
      '/app/src/index.ts',
      '/app/node_modules/hash-wasm/dist/index.js',
      '/app/node_modules/@huggingface/transformers/dist/a.js',
      '/app/node_modules/@huggingface/transformers/node_modules/@scope/inner/index.js',
      'C:\\app\\node_modules\\@other\\name\\index.js',
      '\0virtual:something',
    ];
    expect(packagesWithoutNotice(modules, read('NOTICE'))).toEqual(['@other/name', '@scope/inner']);
    expect(packagesWithoutNotice(modules, '- hash-wasm-other, by')).toContain('hash-wasm');
  });
});
