import { expect, test } from 'vitest'
import { Random } from '../../../bench/varied/random.ts'
import { entry, type Kind, type Made, made, packOf } from '../../../test/made-packs.ts'
import { nullOid, type Oid } from '../format/oid.ts'
import { gitIn, TestGit } from '../testing.ts'
import { isPlain } from './plain-object.ts'

const random = new Random(7)
const pick = <T>(list: readonly T[]): T => random.pick(list)
const text = (content: string): Buffer => Buffer.from(content, 'latin1')

/** Objects that all of the made ones refer to. */
const blob = made('blob', text('text\n'))
const tree = made('tree', Buffer.concat([text('100644 a\0'), Buffer.from(blob.oid, 'hex')]))
const person = 'A U Thor <a@example.com> 1700000000 +0200'
const commit = made('commit', text(`tree ${tree.oid}\nauthor ${person}\ncommitter ${person}\n\nFirst\n`))

const names = [
  ...[
    'a',
    'b.txt',
    '.github',
    '.gitignore',
    '.gitkeep',
    '.gitlab-ci.yml',
    'été',
    'a b',
    'a~',
    '~a',
    'git',
    'x.git',
    '...',
    '.g',
    'a\tb',
  ],
  ...[
    '',
    '.',
    '..',
    'a/b',
    '.git',
    '.GIT',
    '.git ',
    '.git.',
    '.git...',
    '.git::$DATA',
    'git~1',
    'GIT~1',
    'a\\.git',
    '.g\u200cit',
    '.gi\u200ft',
  ],
  ...[
    '.gitmodules',
    '.gitattributes',
    '.GITMODULES',
    '.gitmodules ',
    'gitmod~1',
    'gi7eba~1',
    '.gitm\u200codules',
    '.gitignore ',
    '.gitattributes.',
  ],
  ...['.mailmap', '.GitIgnore', '\u00ff', 'a\ufeff', `${'n'.repeat(255)}`, `${'n'.repeat(5000)}`, 'a:b', '.gitnot'],
]
const modes = [
  '100644',
  '100644',
  '100644',
  '100755',
  '40000',
  '160000',
  '120000',
  '100664',
  '100600',
  '040000',
  '0100644',
  '140000',
  '',
  '1',
  '40755',
]

function madeTree(): Made {
  const entries = Array.from({ length: 1 + Math.floor(random.next() * 3) }, () => {
    const mode = pick(modes)
    const oid = mode === '160000' ? commit.oid : /^0?40/.test(mode) ? tree.oid : blob.oid
    const bytes = Buffer.from(pick(names), random.chance(0.1) ? 'latin1' : 'utf8')
    return {
      mode,
      bytes,
      oid: random.chance(0.02) ? nullOid : oid,
      key: Buffer.concat([bytes, text(/^0?40/.test(mode) ? '/' : '')]),
    }
  })
  if (random.chance(0.9)) entries.sort((one, other) => Buffer.compare(one.key, other.key))
  const content = Buffer.concat(
    entries.flatMap(({ mode, bytes, oid }) => [text(`${mode} `), bytes, text('\0'), Buffer.from(oid, 'hex')]),
  )
  return made(
    'tree',
    random.chance(0.05) ? content.subarray(0, content.length - 1 - Math.floor(random.next() * 25)) : content,
  )
}

const persons = [
  ...[
    person,
    person,
    person,
    'É <é@example.com> 1 -0000',
    'A <> 0 +0000',
    'A. "B" C. <a b> 1700000000 +0000',
    ' <a@b> 1 +0000',
    'A<a@b> 1 +0000',
  ],
  ...[
    '<a@b> 1 +0000',
    'A a@b 1 +0000',
    'A <a@b>1 +0000',
    'A <a@b> 01 +0000',
    'A <a@b> 99999999999999999999 +0000',
    'A <a@b> 1 +000',
    'A <a@b> 1',
    '',
  ],
  ...[
    'A <a@b>  1 +0000',
    'A <<a@b> 1 +0000',
    'A <a@b>> 1 +0000',
    'A > <a@b> 1 +0000',
    'A <a@b> -1 +0000',
    'A <a@b> 1 +00000',
    'A <a@b> x +0000',
  ],
]
const extras = [
  '',
  '',
  '',
  '',
  'encoding ISO-8859-1\n',
  'gpgsig -----BEGIN X-----\n abc\n -----END X-----\n',
  'x y\n',
  'mergetag x\n',
  ' a\n',
  'gpgsig\n',
  'author A <a@b> 1 +0000\n',
]
const messages = ['Change\n', 'Change', '', 'É\n', 'a\0b', '\n\n', '<a> b\n']

/** One of the lines is sometimes lost, or is there twice. */
const disturbed = (lines: readonly string[]): string =>
  lines.flatMap((line) => (random.chance(0.03) ? [] : random.chance(0.03) ? [line, line] : [line])).join('')

const madeCommit = (): Made =>
  made(
    'commit',
    Buffer.from(
      disturbed([
        `tree ${random.chance(0.05) ? tree.oid.toUpperCase() : tree.oid}\n`,
        pick(['', `parent ${commit.oid}\n`, `parent ${commit.oid}\n`, `parent ${commit.oid.slice(1)}\n`]),
        `author ${pick(persons)}\n`,
        `committer ${pick(persons)}\n`,
        pick(extras),
        '\n',
        pick(messages),
        String(random.next()),
      ]),
    ),
  )

const madeTag = (): Made =>
  made(
    'tag',
    Buffer.from(
      disturbed([
        `object ${commit.oid}\n`,
        `type ${pick(['commit', 'commit', 'commit', 'comit', 'blob', ''])}\n`,
        `tag ${pick(['v1.0', 'v1.0', 'release-2', 'a/b', 'a..b', 'a.lock', '-a', 'a b', '', '.a', 'a~1'])}\n`,
        `tagger ${pick(persons)}\n`,
        pick(['', '', '', ...extras]),
        '\n',
        pick(messages),
        String(random.next()),
      ]),
    ),
  )

const makers: Record<Exclude<Kind, 'blob'>, () => Made> = { tree: madeTree, commit: madeCommit, tag: madeTag }

test.each(Object.entries(makers))(
  'what is taken for a plain %s is accepted by the checks of git, and so are ordinary ones',
  async (_kind, make) => {
    await using world = await TestGit.start()
    const { gitDir } = await world.repository()
    const store = (objects: readonly Made[]) =>
      gitIn(
        gitDir,
        ['unpack-objects', '-q', '--strict'],
        packOf(objects.map((object) => entry(object.kind, object.content))),
      )
    store([blob, tree, commit])
    const all = [...new Map(Array.from({ length: 10_000 }, make).map((each) => [each.oid, each])).values()]
    const asNew = (each: Made) => ({ oid: each.oid as Oid, type: each.kind, content: each.content })
    const [plain, others] = [
      all.filter((each) => isPlain(asNew(each), () => false)),
      all.filter((each) => !isPlain(asNew(each), () => false)),
    ]
    expect(plain.length).toBeGreaterThan(100)
    expect(others.length).toBeGreaterThan(100)
    for (let at = 0; at < plain.length; at += 90) store(plain.slice(at, at + 90))
  },
)

test('a link, and a file whose content git checks, is not plain if the push brings its content', () => {
  const treeOf = (mode: string, name: string) =>
    ({
      oid: tree.oid as Oid,
      type: 'tree',
      content: Buffer.concat([text(`${mode} ${name}\0`), Buffer.from(blob.oid, 'hex')]),
    }) as const
  for (const [mode, name] of [
    ['120000', 'link'],
    ['100644', '.gitmodules'],
    ['100644', '.gitattributes'],
  ] as const) {
    expect(isPlain(treeOf(mode, name), () => false)).toBe(true)
    expect(isPlain(treeOf(mode, name), (oid) => oid === blob.oid)).toBe(false)
  }
})

test('a tree or commit that would take long to check is not plain', () => {
  const entries = Array.from({ length: 5000 }, (_, n) => [text(`100644 ${n + 10_000}\0`), Buffer.from(blob.oid, 'hex')])
  const wide = (count: number) =>
    ({ oid: tree.oid as Oid, type: 'tree', content: Buffer.concat(entries.slice(0, count).flat()) }) as const
  expect([isPlain(wide(3000), () => false), isPlain(wide(5000), () => false)]).toEqual([true, false])
  const merge = (parents: number) => {
    const lines = `parent ${commit.oid}\n`.repeat(parents)
    const content = text(`tree ${tree.oid}\n${lines}author ${person}\ncommitter ${person}\n\nMerge\n`)
    return { oid: commit.oid as Oid, type: 'commit', content } as const
  }
  expect([isPlain(merge(1000), () => false), isPlain(merge(2000), () => false)]).toEqual([true, false])
})
