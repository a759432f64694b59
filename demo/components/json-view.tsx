import { memo } from 'preact/compat';
import { jsonTokens } from './json-text.ts';

/** JSON in colours; what is no JSON token (a cut string, say) stays plain. */
export const JsonView = memo(({ text }: { text: string }) => (
  <>
    {jsonTokens(text).map(({ kind, text: token }) =>
      kind === null ? token : <span class={`json-${kind}`}>{token}</span>,
    )}
  </>
));
