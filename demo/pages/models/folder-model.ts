import type { LocalModel } from '../../../src/index.ts';

/** The model in a folder that was opened, named like the folder; `null` without files. */
export function folderModel(opened: readonly File[]): LocalModel | null {
  const [first] = opened;
  if (!first) return null;
  const [id = first.name] = first.webkitRelativePath.split('/');
  const files = Object.fromEntries(
    opened.map((file) => [file.webkitRelativePath.slice(id.length + 1) || file.name, file]),
  );
  return { id, files };
}
