import type { EngineState } from '../../src/index.ts';
import type { Settings } from '../settings.ts';
import { byId, element } from './element.ts';

const deviceNames = { webgpu: 'WebGPU', wasm: 'WASM', scripted: 'Scripted' };

const choices: { value: Settings['device']; label: string }[] = [
  { value: 'auto', label: 'Automatic' },
  { value: 'webgpu', label: 'WebGPU' },
  { value: 'wasm', label: 'WASM' },
];

/** The chip in the top bar that names the device, and the box behind it that says why that one. */
export class DeviceDetails {
  private readonly chip = byId('device', HTMLButtonElement);
  private readonly name = byId('device-name', HTMLElement);
  private readonly box = byId('device-details', HTMLElement);
  private readonly settings: Settings;

  constructor(settings: Settings) {
    this.settings = settings;
  }

  show(state: EngineState): void {
    const { device, format, model } = state;
    this.chip.hidden = false;
    this.chip.dataset.state = state.status;
    this.name.textContent = state.status === 'ready' ? deviceNames[device.device] : state.status;

    const list = element('dl');
    const row = (term: string, text: string) => list.append(element('dt', {}, term), element('dd', {}, text));
    row('Model', `${model.id} (${device.dtype})`);
    row('Context', `${model.contextLength.toLocaleString('en')} tokens`);
    row('Format', [format.reasoning, format.tools].filter(Boolean).join(' + ') || 'plain text');
    row('Device', deviceNames[device.device]);
    row('Adapter', device.adapter === null ? 'none' : adapterName(device.adapter));
    this.box.replaceChildren(
      element('p', {}, state.error?.message ?? device.reason),
      list,
      this.deviceChoice(),
    );
    if (format.warning) this.box.append(element('p', { class: 'tool-error' }, format.warning));
  }

  /** Another device means loading again, so these are links. */
  private deviceChoice(): HTMLElement {
    const nav = element('nav', { class: 'device-choice', 'aria-label': 'Run the model on' });
    for (const { value, label } of choices) {
      const link = element('a', { href: this.settings.address({ device: value }) }, label);
      if (value === this.settings.device) link.setAttribute('aria-current', 'true');
      nav.append(link);
    }
    return nav;
  }
}

type Adapter = NonNullable<EngineState['device']['adapter']>;

function adapterName({ description, vendor, architecture, device, isSoftware }: Adapter): string {
  const name =
    description || [vendor, architecture, device].filter(Boolean).join(' ') || 'not named by the browser';
  return isSoftware ? `${name} (software)` : name;
}
