export function serveSources(options?: { folders?: string[] }): Promise<{
  /** For example `http://localhost:41234`. */
  origin: string;
  close(): Promise<void>;
}>;
