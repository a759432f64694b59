/**
 * `npm run manifest -- FOLDER`: writes `tokenprism-manifest.json` into a model's folder: sizes and SHA-256 of its files,
 * by which a load verifies what comes and keeps it for the next visit.
 */
import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';

const manifestName = 'tokenprism-manifest.json';

async function fingerprint(path) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return { size: statSync(path).size, sha256: hash.digest('hex') };
}

/** Files below `folder` without hidden ones, as names with `/`, in order. */
function namesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((name) => name !== manifestName && !name.split('/').some((part) => part.startsWith('.')))
    .sort();
}

async function main([folder, ...others]) {
  if (!folder || others.length > 0) throw new Error('Usage: npm run manifest -- FOLDER');
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`${folder} is not a folder: give the one that has the model's config.json.`);
  }
  const names = namesIn(folder);
  if (!names.includes('config.json')) {
    throw new Error(`${folder} has no config.json: give the folder that has the model's files.`);
  }
  const files = {};
  for (const name of names) files[name] = await fingerprint(join(folder, name));
  const path = join(folder, manifestName);
  writeFileSync(path, `${JSON.stringify({ version: 1, files }, null, 2)}\n`);
  console.log(`${path}: ${names.length} files`);
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
