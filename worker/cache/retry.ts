/** Tries of a transfer that bring nothing, one after another, before it is given up. */
export const mostTries = 5;
/** So many bytes of a try count as progress: the tries are counted anew. */
export const progressBytes = 1 << 20;
/** The longest wait that a server may ask for, in milliseconds. */
export const longestWait = 60_000;

const firstWait = 500;
const longestBackOff = 8000;

/** Answers that another try may better: timeouts, rate limits and servers that are busy or gone for a moment. */
export const isTemporary = (status: number): boolean =>
  [408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524].includes(status);

/** Milliseconds before the next try: doubled with each failure, and scattered so that tabs do not come together. */
export function backOff(failures: number, random: () => number): number {
  return Math.min(firstWait * 2 ** (failures - 1), longestBackOff) * (0.5 + random() / 2);
}

/** Milliseconds that a `Retry-After` header asks for (seconds, or a date); `null` where it says nothing. */
export function retryAfter(header: string | null, now: number): number | null {
  if (header === null || header.trim() === '') return null;
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
