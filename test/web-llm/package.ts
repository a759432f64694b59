/** The unmodified package with a runtime in the place of TVM's, as a module's text. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const file = createRequire(import.meta.url).resolve('@mlc-ai/web-llm');

function replaced(text: string, pattern: RegExp, by: string, least: number): string {
  const count = text.match(pattern)?.length ?? 0;
  if (count < least) throw new Error(`@mlc-ai/web-llm has ${count} places like ${pattern}, not ${least}.`);
  return text.replaceAll(pattern, by);
}

/** @param runtime an expression that gives the runtime */
export function packageWith(runtime: string): string {
  const text = readFileSync(file, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '');
  return replaced(text, /^var libExports\$2 = requireLib\$2\(\);$/gm, `var libExports$2 = ${runtime};`, 1);
}

/** The same for Node, for which the package's WebAssembly loaders are not meant. */
export function packageForNode(runtime: string): string {
  const asWorker = replaced(
    packageWith(runtime),
    /ENVIRONMENT_IS_WORKER=typeof importScripts=="function"/g,
    'ENVIRONMENT_IS_WORKER=true',
    2,
  );
  const noNode = replaced(
    asWorker,
    /ENVIRONMENT_IS_NODE=typeof process=="object"/g,
    'ENVIRONMENT_IS_NODE=false&&typeof process=="object"',
    2,
  );
  return noNode.replaceAll('self.location.href', '"http://localhost/"');
}
