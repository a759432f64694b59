import { useEffect } from 'preact/hooks';

/** While `active`, keeps the end of the page in view as it grows, unless the reader has scrolled up. */
export function useFollow(active: boolean): void {
  useEffect(() => {
    if (!active) return;
    const page = document.documentElement;
    let atEnd = true;
    let lastTop = page.scrollTop;
    const toEnd = () => scrollTo({ top: page.scrollHeight, behavior: 'instant' });
    const onScroll = () => {
      // Growing content moves the end away without the reader doing anything: only scrolling up lets go.
      if (page.scrollTop < lastTop) atEnd = false;
      if (page.scrollHeight - page.scrollTop - page.clientHeight < 40) atEnd = true;
      lastTop = page.scrollTop;
    };
    const observer = new ResizeObserver(() => {
      if (atEnd) toEnd();
    });
    observer.observe(document.body);
    addEventListener('scroll', onScroll, { passive: true });
    toEnd();
    return () => {
      observer.disconnect();
      removeEventListener('scroll', onScroll);
    };
  }, [active]);
}
