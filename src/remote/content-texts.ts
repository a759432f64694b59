import { isObject } from '../chat/fields.ts';
import { malformed } from './answer.ts';
import { excerpt } from './failures.ts';

export interface ContentText {
  kind: 'reasoning' | 'content';
  text: string;
}

/**
 * The texts of a content: itself, or those of its parts, as Mistral sends them. Throws a `RemoteServerError` for a part
 * that is no text.
 */
export function contentTexts(content: unknown, kind: ContentText['kind'] = 'content'): ContentText[] {
  if (content === undefined || content === null || content === '') return [];
  if (typeof content === 'string') return [{ kind, text: content }];
  if (!Array.isArray(content)) throw malformed(`a ${kind} that is no text, ${excerpt(content)}`);
  return content.flatMap((part: unknown) => {
    if (typeof part === 'string') return contentTexts(part, kind);
    if (isObject(part) && part.type === 'text') return contentTexts(part.text, kind);
    if (isObject(part) && part.type === 'thinking') return contentTexts(part.thinking, 'reasoning');
    throw malformed(`a part of a ${kind} that is not known, ${excerpt(part)}`);
  });
}

/** The texts of one kind, joined. */
export const joinedTexts = (texts: readonly ContentText[], kind: ContentText['kind']) =>
  texts.map((one) => (one.kind === kind ? one.text : '')).join('');
