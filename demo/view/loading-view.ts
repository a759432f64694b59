import { byId } from './element.ts';

/** The bar that fills while the model loads. */
export class LoadingView {
  private readonly root = byId('loading', HTMLElement);
  private readonly label = byId('loading-label', HTMLElement);
  private readonly bytes = byId('loading-bytes', HTMLElement);
  private readonly bar = byId('loading-bar', HTMLProgressElement);

  /** `total` 0: nobody knows how much there is to come. */
  show(label: string, loaded = 0, total = 0): void {
    this.root.hidden = false;
    this.label.textContent = label;
    this.bytes.textContent = total > 0 ? `${amount(loaded, total)} of ${amount(total, total)}` : '';
    if (total > 0) this.bar.value = Math.min(1, loaded / total);
    else this.bar.removeAttribute('value');
  }

  hide(): void {
    this.root.hidden = true;
  }
}

/** Bytes in the unit that suits `scale` bytes. */
function amount(bytes: number, scale: number): string {
  if (scale < 1e6) return `${Math.round(bytes / 1e3)} kB`;
  return `${(bytes / 1e6).toFixed(scale < 1e8 ? 1 : 0)} MB`;
}
