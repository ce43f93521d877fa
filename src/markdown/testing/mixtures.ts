import specification from 'commonmark-spec'
import { githubExamples } from './github.ts'

const names =
  'a abbr address applet area article aside b big blockquote body br button caption center code col colgroup dd details dialog dir div dl dt em embed fieldset figcaption figure font footer foreignObject form frame frameset h1 h2 h6 head header hgroup hr html i iframe image img input kbd li link listing main marquee math menu meta mi mtext nav nobr noembed noframes noscript object ol option p plaintext pre ruby rp rt script search section select small span strike strong style sub summary sup svg table tbody td template textarea tfoot th thead title tr tt u ul unknown var wbr xmp'.split(
    ' ',
  )

/** Raw HTML: tags of all kinds, and beginnings and ends of what a parser treats in its own way. */
const fragments: readonly string[] = [
  ...names.flatMap((name) => [`<${name}>`, `</${name}>`, `<${name} a="b>c">`, `<${name}/>`]),
  ...['<!--', '-->', '<!-- a -->', '<!---->', '<!>', '<?', '?>', '<!A', '<![CDATA[', ']]>', '<a href="', '">', "'"],
  ...['<b id=1><b id=2>', '<table><tr><td>', '</td></tr></table>', '<table>\n<tr>\n\n', '<input type=hidden>'],
  ...['<annotation-xml encoding="text/html">', '<svg><desc>', '<math><mi>', '<details><summary>a</summary>'],
  ...[
    '<p align="center"><img src="a"><br></p>',
    '<!-- a\n\nb -->',
    '&amp',
    '&lt;p>',
    'x',
    '\0',
    '&#13;',
    '&#0;',
    '\r\n',
  ],
]

/** Each kind of block of Markdown, and what only a parser of HTML knows. */
const blocks: readonly string[] = [
  ...['a *b* `c`', '# d', 'e\n-', '- f\n- g', '- h\n\n  i\n- j', '1. k', '> l', '```\nm\n```', '    n', '---'],
  ...[
    '|a|b|\n|-|:-:|\n|c|d|',
    '[l](u) ![i](j)',
    'a[^1]',
    '[^1]: note',
    '**s** ~~d~~',
    'http://a.b',
    'a  \nb',
    '- [ ] t',
  ],
  ...['[a <http://b.c> d](e)', 'x &#13; y', '> - > # deep', '[[_TOC_]]'],
]

export const commonExamples: readonly string[] = specification.tests.map(({ markdown }) =>
  markdown.replaceAll('→', '\t'),
)
const examples = [...commonExamples, ...githubExamples.map(([, text]) => text)]

const separators = ['\n\n', '\n\n', '\n\n', '\n', ' ', '']

/** The same numbers from 0 to 1 in each run. */
function numbers(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Documents of examples, blocks and raw HTML in random orders, the same each time. */
export function mixtures(count: number, seed = 1): string[] {
  const number = numbers(seed)
  const one = <T>(of: readonly T[]): T => of[Math.floor(number() * of.length)]!
  const kinds: readonly ((few: readonly string[]) => string)[] = [
    () => one(examples),
    () => one(number() < 0.5 ? blocks : fragments),
    (few) => one(number() < 0.4 ? blocks : few),
    () => one([one(examples), one(blocks), one(fragments)]),
  ]
  return Array.from({ length: count }, (_, index) => {
    const name = one(names)
    const few = [one(fragments), one(fragments), `<${name}>`, `</${name}>`]
    const pieces = Array.from({ length: 2 + Math.floor(number() * 12) }, () => kinds[index % kinds.length]!(few))
    return pieces.map((piece) => piece + one(separators)).join('')
  })
}
