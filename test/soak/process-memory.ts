import { readdirSync, readFileSync } from 'node:fs';

/** Bytes of memory that the processes below this one hold, shared pages counted in each; `null` where that can't be told. */
export function memoryOfChildren(): number | null {
  const processes = new Map<number, { parent: number; bytes: number }>();
  let names: string[];
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return null;
  }
  for (const name of names) {
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8');
      const field = (key: string) => Number(new RegExp(`^${key}:\\s*(\\d+)`, 'm').exec(status)?.[1] ?? 0);
      processes.set(Number(name), { parent: field('PPid'), bytes: 1024 * field('VmRSS') });
    } catch {
      // It has ended meanwhile.
    }
  }
  const isBelow = (id: number): boolean => {
    const parent = processes.get(id)?.parent;
    return parent !== undefined && (parent === process.pid || isBelow(parent));
  };
  return [...processes].reduce((sum, [id, { bytes }]) => (isBelow(id) ? sum + bytes : sum), 0);
}
