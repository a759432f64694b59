import { useEffect, useState } from 'preact/hooks';
import { announce } from './announcer.tsx';
import { IconButton } from './icon-button.tsx';

/** How long the button says that it has copied, in milliseconds. */
export const copiedTime = 1_600;

export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    announce('Copied.');
    return true;
  } catch {
    announce('The browser did not let the page copy.');
    return false;
  }
}

/** `text` is asked for when the button is pressed. */
export function CopyButton({ text, label = 'Copy' }: { text: () => string; label?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), copiedTime);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <IconButton
      icon={copied ? 'check' : 'copy'}
      label={copied ? 'Copied' : label}
      onClick={async () => setCopied(await copy(text()))}
    />
  );
}
