import type { EngineOptions, LocalModel } from '../src/index.ts';

export type DeviceChoice = NonNullable<EngineOptions['device']>;

/** What the page's address asks for: `?device=webgpu|wasm` and `?model=` as `createEngine` takes it. */
export interface Settings {
  device: DeviceChoice;
  /** `null`: the embedded model. Files that were opened here are in no address. */
  model: string | LocalModel | null;
}

/** Throws an `Error` with a message for people when the address asks for something that there is not. */
export function readSettings(address: string): Settings {
  const { searchParams } = new URL(address);
  const device = searchParams.get('device') ?? 'auto';
  if (device !== 'auto' && device !== 'webgpu' && device !== 'wasm') {
    throw new Error(`There is no device "${device}": the address can say ?device=webgpu or ?device=wasm.`);
  }
  return { device, model: searchParams.get('model') || null };
}

/** The address that asks for these settings, the rest of it as it is. */
export function addressOf({ device, model }: Settings, address: string): string {
  const url = new URL(address);
  if (device === 'auto') url.searchParams.delete('device');
  else url.searchParams.set('device', device);
  if (typeof model !== 'string') url.searchParams.delete('model');
  else url.searchParams.set('model', model);
  return url.href;
}
