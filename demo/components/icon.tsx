/** Line icons, drawn on 20 × 20. */
const paths = {
  send: 'M10 16V4M5 9l5-5 5 5',
  stop: 'M6 6h8v8H6z',
  plus: 'M10 4v12M4 10h12',
  copy: 'M7 7h9v9H7zM13 7V4H4v9h3',
  check: 'M4 10.5l4 4 8-9',
  edit: 'M4 16l.8-3.6L13 4.2l2.8 2.8-8.2 8.2zM11 6.200l2.800 2.800',
  refresh: 'M15.500 10a5.500 5.500 0 1 1-1.700-4M15.500 3v3.300h-3.300',
  play: 'M7 4.500l8 5.500-8 5.500z',
  trash: 'M4 6h12M8 6V4h4v2M5.500 6l.8 10h7.400l.8-10',
  search: 'M9 14.500a5.500 5.500 0 1 0 0-11 5.500 5.500 0 0 0 0 11zM13 13l4 4',
  download: 'M10 3v10M6 9.500l4 4 4-4M4 16.500h12',
  upload: 'M10 14V4M6 7.500l4-4 4 4M4 16.500h12',
  panel: 'M3 4h14v12H3zM8 4v12',
  left: 'M12 5l-5 5 5 5',
  right: 'M8 5l5 5-5 5',
  close: 'M5 5l10 10M15 5L5 15',
  folder: 'M3 5h5l1.500 2H17v9H3z',
  chat: 'M4 4h12v9H9l-4 3.500V13H4z',
  agent: 'M10 3v3M5 6h10v8H5zM8 9.500v1M12 9.500v1M3 9v3M17 9v3M7 17h6',
  form: 'M4 4h12v12H4zM7 8h6M7 12h4',
  inspector: 'M3 10h3l2-5 4 10 2-5h3',
  models:
    'M10 3l6.500 3.500L10 10 3.500 6.500zM3.500 10l6.500 3.500 6.500-3.500M3.500 13.500L10 17l6.500-3.500',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" focusable="false">
      <path
        d={paths[name]}
        fill={name === 'stop' || name === 'play' ? 'currentColor' : 'none'}
        stroke="currentColor"
        stroke-width="1.5"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
