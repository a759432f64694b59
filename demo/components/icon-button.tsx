import { Icon, type IconName } from './icon.tsx';

interface IconButtonProps {
  icon: IconName;
  /** What it does, to people who see no icon, and as its tooltip. */
  label: string;
  onClick(): void;
  disabled?: boolean;
}

export function IconButton({ icon, label, onClick, disabled = false }: IconButtonProps) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      disabled={disabled}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
