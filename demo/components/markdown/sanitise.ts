import createDOMPurify from 'dompurify';

const purify = createDOMPurify(window);

const tags =
  'p br strong em del code pre blockquote ul ol li h3 h4 h5 h6 table thead tbody tr th td hr a sup sub span';

purify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName !== 'A') return;
  const href = node.getAttribute('href') ?? '';
  if (!/^(?:https?:|mailto:)/i.test(href)) node.removeAttribute('href');
  node.setAttribute('target', '_blank');
  node.setAttribute('rel', 'noopener noreferrer nofollow');
});

purify.addHook('uponSanitizeAttribute', (_node, data) => {
  if (data.attrName === 'class' && !/^(?:language-[\w+#-]+|hljs-[\w-]+(?: [\w-]+_)*)$/.test(data.attrValue)) {
    data.keepAttr = false;
  }
});

/** HTML that was made of a model's words: only what Markdown and highlighting can make is left of it. */
export function sanitised(html: string): DocumentFragment {
  return purify.sanitize(html, {
    ALLOWED_TAGS: tags.split(' '),
    ALLOWED_ATTR: ['href', 'title', 'class', 'start', 'align'],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
}
