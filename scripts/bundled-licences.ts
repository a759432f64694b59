import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';

/**
 * Vite plugin that fails a build whose output holds a package that NOTICE does not name: its licence asks for that.
 *
 * @param notice path of NOTICE
 */
export function bundledLicences(notice: string): Plugin {
  return {
    name: 'tokenprism:bundled-licences',
    apply: 'build',
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((output) =>
        output.type === 'chunk' ? Object.keys(output.modules) : [],
      );
      const missing = packagesWithoutNotice(modules, readFileSync(notice, 'utf8'));
      if (missing.length === 0) return;
      this.error(
        `NOTICE does not name ${missing.join(', ')}, which the bundle holds: add them with their licence.`,
      );
    },
  };
}

/**
 * Packages that NOTICE does not name.
 *
 * @param modules ids of what a bundle holds
 */
export function packagesWithoutNotice(modules: readonly string[], notice: string): string[] {
  const packages = new Set<string>();
  for (const id of modules) {
    // The innermost one, where packages have some of their own.
    const [, name] = /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(id) ?? [];
    if (name) packages.add(name.replace('\\', '/'));
  }
  const named = new Set(notice.split(/[\s,;]+/));
  return [...packages].filter((name) => !named.has(name)).sort();
}
