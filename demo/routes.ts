export const pageNames = ['chat', 'agent', 'form', 'inspector', 'models'] as const;
export type PageName = (typeof pageNames)[number];

export interface Route {
  page: PageName;
  /** What follows the page's name in the address, for example the id of a conversation. */
  rest: string;
}

/** `#/chat/ID`: a hash, so that any server of files can serve the app. What is no page's name is the chat. */
export function readRoute(hash: string): Route {
  const [name = '', ...rest] = hash.replace(/^#\/?/, '').split('/');
  const page = pageNames.find((known) => known === name) ?? 'chat';
  return { page, rest: page === name ? decodeURIComponent(rest.join('/')) : '' };
}

export function hashOf(page: PageName, rest = ''): string {
  return rest === '' ? `#/${page}` : `#/${page}/${encodeURIComponent(rest)}`;
}
