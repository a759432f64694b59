import type { EngineOptions } from '../src/index.ts';

export type DeviceChoice = NonNullable<EngineOptions['device']>;

/** What the page's address asks for: `?device=webgpu|wasm` and `?model=` as `createEngine` takes it. */
export interface Settings {
  device: DeviceChoice;
  /** `null`: the embedded model. */
  model: string | null;
  /** The page's address with another device. */
  address(change: { device: DeviceChoice }): string;
}

/** Throws an `Error` with a message for people when the address asks for something that there is not. */
export function readSettings(address: string): Settings {
  const url = new URL(address);
  const device = url.searchParams.get('device') ?? 'auto';
  if (device !== 'auto' && device !== 'webgpu' && device !== 'wasm') {
    throw new Error(`There is no device "${device}": the address can say ?device=webgpu or ?device=wasm.`);
  }
  return {
    device,
    model: url.searchParams.get('model') || null,
    address(change) {
      const next = new URL(url);
      next.hash = '';
      if (change.device === 'auto') next.searchParams.delete('device');
      else next.searchParams.set('device', change.device);
      return next.href;
    },
  };
}
