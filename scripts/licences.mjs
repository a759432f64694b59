/**
 * npm run licences
 *
 * Writes docs/licences.md: the packages that the project names, with the versions and licences of the lock file.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const pathOf = (name) => new URL(`../${name}`, import.meta.url);
const json = (name) => JSON.parse(readFileSync(pathOf(name), 'utf8'));

/** Code of these is in the package's files; a build checks that NOTICE names all that it bundles. */
const bundled = [
  '@huggingface/jinja',
  '@huggingface/tokenizers',
  '@huggingface/transformers',
  '@mlc-ai/web-xgrammar',
  'eventsource-parser',
  'hash-wasm',
  'onnxruntime-common',
  'onnxruntime-web',
];
/** Code of these is in the demo, which is no part of the package. */
const ofDemo = ['@preact/signals', 'dompurify', 'highlight.js', 'idb', 'marked', 'preact'];

const table = (names, packages) =>
  [
    '| package | version | licence |',
    '| --- | --- | --- |',
    ...names.map((name) => {
      const { version, license } = packages[`node_modules/${name}`];
      return `| ${name} | ${version} | ${license} |`;
    }),
  ].join('\n');

/** The text of docs/licences.md. */
export function licencesDocument() {
  const { packages } = json('package-lock.json');
  const { dependencies, devDependencies, peerDependencies } = json('package.json');
  const installed = Object.keys(dependencies);
  const others = Object.keys({ ...devDependencies, ...peerDependencies })
    .filter((name) => ![...bundled, ...ofDemo, ...installed].includes(name))
    .sort();
  return `# Licences of what the project uses

Written by \`npm run licences\` from the lock file. The package itself is under Apache-2.0; [NOTICE](../NOTICE) has the licences of what is in its files, and a build that bundles a package which NOTICE does not name fails.

## In the package's files

${table(bundled, packages)}

@mlc-ai/web-xgrammar contains picojson (BSD-2-Clause) and DLPack (Apache-2.0). The WebAssembly file of onnxruntime-web contains works that are listed in [ONNX Runtime's notices](https://github.com/microsoft/onnxruntime/blob/main/ThirdPartyNotices.txt).

## Installed with the package

${table(installed, packages)}

Its types only are used.

## In the demo

${table(ofDemo, packages)}

## For development, tests and benchmarks

Nothing of these is distributed. \`@mlc-ai/web-llm\` and \`@playwright/test\` are optional peers, which the application installs.

${table(others, packages)}
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = pathOf('docs/licences.md');
  writeFileSync(path, licencesDocument());
  console.log('docs/licences.md was written.');
}
