/**
 * Vite plugin: the module `virtual:xgrammar`, made of the file that @mlc-ai/web-xgrammar publishes.
 *
 * The package keeps its WebAssembly instance to itself: no second one after a fault, no synchronous mask, reasons
 * of errors on the console only; and its one file cannot be imported by Node. The code that Emscripten generated
 * for it has options for all of that, so this module exports that code as a factory, without the environments
 * that it does not need, and the WebAssembly bytes beside it. Nothing in it is rewritten.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const ID = 'virtual:xgrammar';
const RESOLVED = `\0${ID}`;

/** @returns {import('vite').Plugin} */
export function xgrammar() {
  return {
    name: 'tokenprism:xgrammar',
    resolveId: (id) => (id === ID ? RESOLVED : undefined),
    load: (id) => (id === RESOLVED ? moduleSource() : undefined),
  };
}

function moduleSource() {
  const file = createRequire(import.meta.url).resolve('@mlc-ai/web-xgrammar');
  const source = readFileSync(file, 'utf8');
  const factory = between(source, 'async function(moduleArg = {}) {', 'return moduleArg.ready\n  }');
  const environment = `if(ENVIRONMENT_IS_NODE){${between(factory, 'if(ENVIRONMENT_IS_NODE){', '}}else;var out=')}}}else;`;
  const wasm = between(factory, 'wasmBinaryFile="data:application/octet-stream;base64,', '";');
  const body = factory.replace(environment, '').replace(wasm, '');
  return `// @mlc-ai/web-xgrammar, Apache-2.0, https://github.com/mlc-ai/xgrammar: its Emscripten module as a factory.
const process = undefined;
export const wasmBase64 = "${wasm}";
export async function createModule(moduleArg) {${body}return moduleArg.ready;
}
`;
}

/**
 * @param {string} text
 * @param {string} start
 * @param {string} end
 * @returns {string} what stands between two marks, the first of its kind
 */
function between(text, start, end) {
  const from = text.indexOf(start);
  const to = text.indexOf(end, from + start.length);
  if (from < 0 || to < 0) {
    throw new Error(
      `@mlc-ai/web-xgrammar has another shape than scripts/xgrammar.mjs knows: no ${start} … ${end}`,
    );
  }
  return text.slice(from + start.length, to);
}
