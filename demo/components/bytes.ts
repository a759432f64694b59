/** Bytes in the unit that suits `scale` bytes. */
export function formatBytes(bytes: number, scale = bytes): string {
  if (scale < 1e6) return `${Math.round(bytes / 1e3)} kB`;
  if (scale < 1e9) return `${(bytes / 1e6).toFixed(scale < 1e8 ? 1 : 0)} MB`;
  return `${(bytes / 1e9).toFixed(2)} GB`;
}
