import { session } from '../engine/model-session.ts';
import { hashOf } from '../router.ts';

export const deviceNames = { webgpu: 'WebGPU', wasm: 'WASM', scripted: 'Scripted' };

/** What runs the model, or how it is; the way to the models. */
export function DeviceChip() {
  const status = session.status.value;
  const [state, text] =
    status.state === 'ready'
      ? [status.report.status, chipText(status.report)]
      : status.state === 'loading'
        ? ['loading', 'Loading']
        : ['failed', status.state === 'paused' ? 'Paused' : 'No model'];
  return (
    <a class="chip" data-state={state} href={hashOf('models')} aria-label={`Model: ${text}`}>
      <span class="chip-dot" aria-hidden="true" />
      {text}
    </a>
  );
}

function chipText({
  status,
  device,
}: {
  status: string;
  device: { device: keyof typeof deviceNames };
}): string {
  return status === 'ready' ? deviceNames[device.device] : status;
}
