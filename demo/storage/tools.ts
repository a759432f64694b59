import type { CustomTool } from '../tools/custom.ts';
import { database } from './database.ts';

/** The tools that were written in this browser. */
export const storedTools = {
  async all(): Promise<CustomTool[]> {
    return (await database()).getAll('tools');
  },
  async put(tool: CustomTool): Promise<void> {
    await (await database()).put('tools', tool);
  },
  async delete(name: string): Promise<void> {
    await (await database()).delete('tools', name);
  },
};
