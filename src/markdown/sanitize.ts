import type { Root } from 'hast'
import { type Schema, sanitize as sanitizeTree } from 'hast-util-sanitize'

/** Prefix of the ids of a document, so that they cannot be those of the page around it. */
export const idPrefix = 'user-content-'

const cells = ['align', 'colSpan', 'rowSpan']

/** The elements and attributes that documents may have. Nothing else passes, whatever Markdown and its extensions write. */
const allowed: Schema = {
  tagNames: [
    ...[
      'a',
      'abbr',
      'b',
      'bdi',
      'bdo',
      'blockquote',
      'br',
      'cite',
      'code',
      'dd',
      'del',
      'details',
      'dfn',
      'div',
      'dl',
      'dt',
      'em',
    ],
    ...[
      'figcaption',
      'figure',
      'h1',
      'h2',
      'h3',
      'h4',
      'h5',
      'h6',
      'hr',
      'i',
      'img',
      'ins',
      'kbd',
      'li',
      'mark',
      'ol',
      'p',
      'pre',
    ],
    ...[
      'q',
      'rp',
      'rt',
      'ruby',
      's',
      'samp',
      'section',
      'small',
      'span',
      'strike',
      'strong',
      'sub',
      'summary',
      'sup',
      'table',
    ],
    ...['tbody', 'td', 'tfoot', 'th', 'thead', 'time', 'tr', 'tt', 'u', 'ul', 'var', 'wbr'],
  ],
  attributes: {
    '*': ['dir', 'id', 'lang', 'title'],
    a: ['href', ['className', 'footnote-backref']],
    blockquote: ['cite'],
    code: [['className', /^language-(?:[\w+#.-]{1,40}|suggestion:-\d{1,9}\+\d{1,9})$/]],
    del: ['cite'],
    details: ['open'],
    div: ['align'],
    ...{ h1: ['align'], h2: ['align'], h3: ['align'], h4: ['align'], h5: ['align'], h6: ['align'], p: ['align'] },
    hr: [['className', 'footnotes-sep']],
    img: ['align', 'alt', 'height', 'src', 'width'],
    ins: ['cite'],
    li: ['value', ['className', 'footnote-item']],
    ol: ['start', 'reversed', 'type', ['className', 'footnotes-list']],
    q: ['cite'],
    section: [['className', 'footnotes']],
    sup: [['className', 'footnote-ref']],
    table: ['align'],
    td: cells,
    th: [...cells, 'scope'],
    time: ['dateTime'],
    tr: ['align'],
    ul: ['type'],
  },
  protocols: {
    href: ['http', 'https', 'mailto', 'ftp', 'irc', 'ircs', 'xmpp', 'tel'],
    src: ['http', 'https'],
    cite: ['http', 'https'],
  },
  ancestors: {
    ...{ tbody: ['table'], td: ['table'], tfoot: ['table'], th: ['table'], thead: ['table'], tr: ['table'] },
    ...{ dd: ['dl'], dt: ['dl'], li: ['ol', 'ul'], summary: ['details'], figcaption: ['figure'] },
  },
  clobber: ['id'],
  clobberPrefix: idPrefix,
  strip: ['iframe', 'noembed', 'noframes', 'noscript', 'script', 'style', 'template', 'title'],
}

/** The allowed elements and attributes of a tree. */
export const sanitize = (tree: Root): Root => sanitizeTree(tree, allowed) as Root
