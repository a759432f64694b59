import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

interface LockedPackage {
  name?: string;
  version: string;
  dependencies?: Record<string, string>;
  hasInstallScript?: boolean;
  dev?: boolean;
  devOptional?: boolean;
}

function readJson<Shape>(path: string): Shape {
  return JSON.parse(readFileSync(join(root, path), 'utf8'));
}

const manifest = readJson<{ dependencies: Record<string, string>; overrides: Record<string, string> }>(
  'package.json',
);
const { packages } = readJson<{ packages: Record<string, LockedPackage> }>('package-lock.json');

/** Native packages that `@huggingface/transformers` depends on and that nothing here uses. */
describe.each(['onnxruntime-node', 'sharp'])('%s', (unwanted) => {
  test('is replaced by an empty package in the lock file', () => {
    const locked = Object.entries(packages).filter(([path]) => path.endsWith(`node_modules/${unwanted}`));
    expect(locked.map(([, { name }]) => name)).toEqual(['empty-npm-package']);
    const platformPackages = Object.keys(packages).filter((path) => path.includes(`/@img/`));
    expect(platformPackages).toEqual([]);
  });

  test('has no code in the installed tree', () => {
    const folder = join(root, 'node_modules', unwanted);
    expect(existsSync(join(root, 'node_modules/@img'))).toBe(false);
    expect(readJson<{ name: string }>(`node_modules/${unwanted}/package.json`).name).toBe(
      'empty-npm-package',
    );
    const binaries = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.(node|so|dylib|dll|wasm)(\.\d+)*$/.test(name),
    );
    expect(binaries).toEqual([]);
  });
});

test('an install of the package pulls only dependencies without code of their own to build or run', () => {
  expect(Object.keys(manifest.dependencies)).toEqual(['openai']);
  const pulled = Object.entries(packages).filter(
    ([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional,
  );
  expect(pulled.map(([path]) => path)).toEqual(['node_modules/openai']);
  expect(pulled.filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([]);
});
