import { computed, signal } from '@preact/signals';
import { messageOf } from '../../conversation/run-answer.ts';
import { storedNotes } from '../../storage/notes.ts';
import { storedTools } from '../../storage/tools.ts';
import { type CustomTool, readCustomTool, runnableTool } from '../../tools/custom.ts';
import { createFileTools } from '../../tools/files.ts';
import { createDemoTools } from '../../tools/index.ts';
import { javascriptTool } from '../../tools/javascript.ts';
import { timers } from '../../tools/timers.ts';
import type { DemoTool } from '../../tools/tool.ts';

interface OpenFolder {
  handle: FileSystemDirectoryHandle;
  write: boolean;
}

type DirectoryPicker = (options: { mode: 'read' | 'readwrite' }) => Promise<FileSystemDirectoryHandle>;

/** The tools of the agent page, and which of them the model gets. */
export class ToolShelf {
  readonly folder = signal<OpenFolder | null>(null);
  readonly custom = signal<CustomTool[]>([]);
  /** What did not work, for people. */
  readonly error = signal<string | null>(null);
  /** Names of those that the model does not get. The sandbox has to be wanted. */
  readonly off = signal<ReadonlySet<string>>(new Set([javascriptTool.name]));
  /** All tools, as the page lists them. */
  readonly all = computed(() => this.#tools(''));

  get canOpenFolders(): boolean {
    return 'showDirectoryPicker' in window;
  }

  /** Those that the model gets for a question. */
  chosen(question: string): DemoTool[] {
    return this.#tools(question).filter(({ name }) => !this.off.peek().has(name));
  }

  toggle(name: string, on: boolean): void {
    const off = new Set(this.off.value);
    if (on) off.delete(name);
    else off.add(name);
    this.off.value = off;
  }

  async restore(): Promise<void> {
    await this.#tried(async () => {
      this.custom.value = await storedTools.all();
    });
  }

  async openFolder(write: boolean): Promise<void> {
    await this.#tried(async () => {
      const { showDirectoryPicker } = window as unknown as { showDirectoryPicker: DirectoryPicker };
      try {
        const handle = await showDirectoryPicker({ mode: write ? 'readwrite' : 'read' });
        this.folder.value = { handle, write };
      } catch (error) {
        // The user thought better of it.
        if (!(error instanceof DOMException && error.name === 'AbortError')) throw error;
      }
    });
  }

  /** Adds a tool, or replaces the one of that name. Throws with a message for people. */
  async add(schema: string, code: string): Promise<void> {
    const tool = readCustomTool(schema, code);
    const others = this.custom.value.filter(({ name }) => name !== tool.name);
    const taken = this.#tools('').some(({ name }) => name === tool.name);
    if (taken && others.length === this.custom.value.length) {
      throw new Error(`There is a tool ${tool.name} already; give yours another name.`);
    }
    this.custom.value = [...others, tool];
    await this.#tried(() => storedTools.put(tool));
  }

  async remove(name: string): Promise<void> {
    this.custom.value = this.custom.value.filter((tool) => tool.name !== name);
    await this.#tried(() => storedTools.delete(name));
  }

  #tools(question: string): DemoTool[] {
    const folder = this.folder.value;
    return [
      ...createDemoTools({ notes: storedNotes, timers, question }),
      ...(folder ? createFileTools(folder.handle, folder) : []),
      javascriptTool,
      ...this.custom.value.map(runnableTool),
    ];
  }

  async #tried(act: () => Promise<void>): Promise<void> {
    try {
      await act();
      this.error.value = null;
    } catch (error) {
      this.error.value = messageOf(error);
    }
  }
}
