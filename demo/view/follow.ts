/** Keeps the end of the page in view while an answer grows, unless the reader has scrolled up. */
export class Follow {
  private active = false;
  private atEnd = true;
  private lastTop = 0;

  constructor(content: HTMLElement) {
    new ResizeObserver(() => {
      if (this.active && this.atEnd) this.toEnd();
    }).observe(content);
    addEventListener(
      'scroll',
      () => {
        // Growing content moves the end away without the reader doing anything: only scrolling up lets go.
        const { scrollTop, scrollHeight, clientHeight } = document.documentElement;
        if (scrollTop < this.lastTop) this.atEnd = false;
        if (scrollHeight - scrollTop - clientHeight < 40) this.atEnd = true;
        this.lastTop = scrollTop;
      },
      { passive: true },
    );
  }

  start(): void {
    this.active = true;
    this.atEnd = true;
    this.toEnd();
  }

  stop(): void {
    this.active = false;
  }

  private toEnd(): void {
    scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' });
  }
}
