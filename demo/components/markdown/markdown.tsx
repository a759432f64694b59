import { memo } from 'preact/compat';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { MarkdownView } from './markdown-view.ts';

/** A text in Markdown; `done`: nothing more comes. */
export const Markdown = memo(({ text, done }: { text: string; done: boolean }) => {
  const root = useRef<HTMLDivElement>(null);
  const view = useRef<MarkdownView | null>(null);
  useLayoutEffect(() => {
    if (!root.current) return;
    view.current ??= new MarkdownView(root.current);
    view.current.update(text, done);
  }, [text, done]);
  return <div ref={root} class="markdown" dir="auto" />;
});
