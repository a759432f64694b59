export function findChromium(): string | null;
export function ensureChromium(): string;
export function chromiumArguments(options?: { adapter?: 'any' | 'software'; network?: boolean }): string[];
