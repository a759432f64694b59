/** Files of one folder that the user has opened. Nothing outside of it can be named. */
import { type DemoTool, optionalText, requireObject, requireText, ToolError } from './tool.ts';

/** Longer files are cut: a model's context is short. Characters. */
const longestText = 4_000;
const mostEntries = 100;

/** The parts of a path below the folder. */
function segments(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw new ToolError('the path must stay in the folder');
  return parts;
}

async function folderAt(
  root: FileSystemDirectoryHandle,
  parts: string[],
): Promise<FileSystemDirectoryHandle> {
  let folder = root;
  for (const part of parts) folder = await folder.getDirectoryHandle(part).catch(missing(parts.join('/')));
  return folder;
}

function missing(path: string): (error: unknown) => never {
  return (error) => {
    const denied = error instanceof DOMException && error.name === 'NotAllowedError';
    throw new ToolError(denied ? 'the browser did not allow it' : `there is no ${path}`, { cause: error });
  };
}

const pathParameter = (description: string) => ({ path: { type: 'string', description } });

/** `write`: whether the folder was opened for writing; each write asks all the same. */
export function createFileTools(root: FileSystemDirectoryHandle, { write }: { write: boolean }): DemoTool[] {
  const listFiles: DemoTool = {
    name: 'list_files',
    description: 'List the files and folders in the opened folder.',
    parameters: { type: 'object', properties: pathParameter('Folder, empty for the opened one') },
    async run(args) {
      const path = optionalText(requireObject(args), 'path') ?? '';
      const folder = await folderAt(root, segments(path));
      const entries: string[] = [];
      for await (const [name, { kind }] of folder.entries()) {
        entries.push(kind === 'directory' ? `${name}/` : name);
      }
      entries.sort();
      return {
        entries: entries.slice(0, mostEntries),
        ...(entries.length > mostEntries && { more: entries.length - mostEntries }),
      };
    },
  };
  const readFile: DemoTool = {
    name: 'read_file',
    description: 'Read a text file of the opened folder.',
    parameters: { type: 'object', properties: pathParameter('File'), required: ['path'] },
    async run(args) {
      const path = requireText(requireObject(args), 'path');
      const parts = segments(path);
      const name = parts.pop();
      if (name === undefined) throw new ToolError('path must name a file');
      const folder = await folderAt(root, parts);
      const handle = await folder.getFileHandle(name).catch(missing(path));
      const bytes = await (await handle.getFile()).arrayBuffer();
      const text = decoded(bytes);
      return {
        text: text.slice(0, longestText),
        ...(text.length > longestText && { cut: `${text.length - longestText} characters more` }),
      };
    },
  };
  const writeFile: DemoTool = {
    name: 'write_file',
    description: 'Write a text file in the opened folder, in place of one that is there.',
    parameters: {
      type: 'object',
      properties: { ...pathParameter('File'), text: { type: 'string', description: 'The whole text' } },
      required: ['path', 'text'],
    },
    asks: true,
    async run(args) {
      const { text } = requireObject(args);
      if (typeof text !== 'string') throw new ToolError('text must be a text');
      const path = requireText(requireObject(args), 'path');
      const parts = segments(path);
      const name = parts.pop();
      if (name === undefined) throw new ToolError('path must name a file');
      const folder = await folderAt(root, parts);
      const handle = await folder.getFileHandle(name, { create: true }).catch(missing(path));
      const file = await handle.createWritable().catch(missing(path));
      await file.write(text);
      await file.close();
      return { status: 'ok', characters: text.length };
    },
  };
  return write ? [listFiles, readFile, writeFile] : [listFiles, readFile];
}

function decoded(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ToolError('the file is no text', { cause: error });
  }
}
