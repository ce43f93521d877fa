import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { describe, expect } from 'vitest'
import { archiveImports } from '../../../test/tables/portability.ts'
import { temporaryFolder, test, unique, type World } from '../../../test/world.ts'
import { storedProject } from '../repository/commits/testing.ts'
import { limitsFor, type UnpackLimits, unpack } from './archive/unpack.ts'
import { type Crafted, craft, craftTar, entriesOf, exportOf, runImport, upload } from './testing.ts'

type Entries = Map<string, Buffer>
let base: Promise<Entries> | undefined

/** The entries of an honest archive: an issue with a note, a label, and a repository. */
async function honest(world: World): Promise<Entries> {
  base ??= (async () => {
    const project = await storedProject(world)
    project.repository.commit({ a: 'a\n' })
    const at = `/projects/${project.id}`
    await world.root.post(`${at}/issues`, { title: 'An issue', labels: 'bug', description: 'x' })
    await world.root.post(`${at}/issues/1/notes`, { body: 'A note' })
    return entriesOf(await exportOf(world, project.id))
  })()
  return new Map(await base)
}

const crafted = (entries: Entries): Crafted[] => [...entries].map(([name, content]) => ({ name, content }))

/** The honest archive with further entries. */
const adding =
  (...more: Crafted[]) =>
  (entries: Entries): Buffer =>
    craft([...crafted(entries), ...more])

/** The honest archive with another content of an entry. */
const having = (name: string, change: (content: string) => string | Buffer) => (entries: Entries) => {
  const content = change(entries.get(name)?.toString('latin1') ?? '')
  return craft(crafted(new Map(entries).set(name, Buffer.from(content as string, 'latin1'))))
}

const relation = (name: string, change: (record: any) => object) =>
  having(`tree/project/${name}.ndjson`, (text) =>
    Buffer.from(
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => `${JSON.stringify(change(JSON.parse(line)))}\n`)
        .join(''),
    ),
  )

const line = (name: string, text: string | Buffer) => having(`tree/project/${name}.ndjson`, () => text)

/** A bundle whose header is changed as text. */
const bundle = (change: (header: string) => string) => (entries: Entries) => {
  const whole = entries.get('project.bundle')!
  const end = whole.indexOf('\n\n')
  const header = change(whole.subarray(0, end).toString())
  return craft(
    crafted(new Map(entries).set('project.bundle', Buffer.concat([Buffer.from(header), whole.subarray(end)]))),
  )
}

const pack = (change: (pack: Buffer) => Buffer) => (entries: Entries) => {
  const whole = entries.get('project.bundle')!
  const start = whole.indexOf('\n\n') + 2
  const changed = Buffer.concat([whole.subarray(0, start), change(Buffer.from(whole.subarray(start)))])
  return craft(crafted(new Map(entries).set('project.bundle', changed)))
}

const flipped = (bytes: Buffer, at: number): Buffer => {
  bytes[at]! ^= 0xff
  return bytes
}

const wrongSum = (archive: Buffer): Buffer => flipped(archive, archive.length - 6)

const file = 'uploads/0123456789abcdef0123456789abcdef/x'
const paxOf = (text: string): Crafted => ({ name: 'PaxHeader', type: 'x', content: `${text.length + 4} ${text}\n` })
const added = (name: string) => bundle((header) => `${header}\n${/[0-9a-f]{40}/.exec(header)![0]} ${name}`)

const cases: readonly (readonly [what: string, archive: (entries: Entries) => Buffer, reason: RegExp])[] = [
  // Kinds of entries
  ['a symbolic link to a file', adding({ name: file, type: '2', link: '/etc/passwd' }), /symbolic link/],
  ['a symbolic link in place of a folder', adding({ name: 'uploads', type: '2', link: '/tmp' }), /symbolic link/],
  [
    'a symbolic link with a relative target',
    adding({ name: 'lfs-objects/x', type: '2', link: '../../x' }),
    /symbolic link/,
  ],
  ['a hard link', adding({ name: file, type: '1', link: 'VERSION' }), /hard link/],
  ['a hard link to an absolute path', adding({ name: file, type: '1', link: '/etc/passwd' }), /hard link/],
  ['a character device', adding({ name: file, type: '3' }), /device/],
  ['a block device', adding({ name: file, type: '4' }), /device/],
  ['a named pipe', adding({ name: file, type: '6' }), /named pipe/],
  ['a sparse file', adding({ name: file, type: 'S' }), /sparse/],
  ['a sparse file in attributes', adding(paxOf('GNU.sparse.major=1'), { name: file }), /sparse/],
  ['a link with a long name', adding({ name: '././@LongLink', type: 'K', content: '/etc/passwd' }), /link/],
  ['an entry of an unknown kind', adding({ name: file, type: 'Z' }), /not a regular file/],
  // Names
  ['an absolute path', adding({ name: '/etc/passwd', content: 'x' }), /absolute path/],
  ['a path with ..', adding({ name: '../outside', content: 'x' }), /not a path below/],
  ['a path with .. inside', adding({ name: 'uploads/../../outside', content: 'x' }), /not a path below/],
  ['a path that ends in ..', adding({ name: 'uploads/..', content: 'x' }), /not a path below/],
  ['.. behind ./', adding({ name: './../outside', content: 'x' }), /not a path below/],
  ['an absolute path in attributes', adding(paxOf('path=/etc/passwd'), { name: 'x', content: 'x' }), /absolute path/],
  ['.. in attributes', adding(paxOf('path=a/../../b'), { name: 'x', content: 'x' }), /not a path below/],
  ['an absolute path as a long name', adding({ name: 'L', type: 'L', content: '/etc/x\0' }, { name: 'x' }), /absolute/],
  ['a backslash in a path', adding({ name: 'uploads\\..\\x', content: 'x' }), /characters/],
  ['a line break in a path', adding({ name: 'a\nb', content: 'x' }), /characters/],
  ['an escape sequence in a path', adding({ name: 'a\u001b[2Jb', content: 'x' }), /characters/],
  ['a path that is not UTF-8', adding({ name: Buffer.from([0x61, 0xff, 0xfe]), content: 'x' }), /UTF-8/],
  ['an empty part of a path', adding({ name: 'a//b', content: 'x' }), /not a path below/],
  ['an entry without a name', adding({ name: './', content: 'x' }), /no name/],
  ['two entries with one name', adding({ name: 'VERSION', content: '0.2.4\n' }), /twice/],
  ['two entries with one name, spelled differently', adding({ name: './VERSION', content: '0.2.4\n' }), /twice/],
  // Sizes
  ['an entry longer than the archive', adding({ name: file, content: 'x', size: 1_000_000 }), /ends within/],
  ['an entry of 8 GB that is not there', adding({ name: file, size: 8 ** 11 - 1 }), /ends within/],
  ['a size that is no number', adding(paxOf('size=many'), { name: file }), /size/],
  ['a negative size', adding(paxOf('size=-1'), { name: file }), /size/],
  ['attributes of a megabyte', adding({ name: 'x', type: 'x', content: 'x'.repeat(1_000_000) }), /too large/],
  ['attributes that are none', adding({ name: 'x', type: 'x', content: 'nonsense' }, { name: file }), /attributes/],
  [
    'attributes with a wrong length',
    adding({ name: 'x', type: 'x', content: '99 path=x\n' }, { name: file }),
    /attributes/,
  ],
  ['a damaged header', adding({ name: file, content: 'x', damaged: true }), /damaged/],
  ['no end mark', (entries) => gzipSync(craftTar(crafted(entries), { end: false })), /end mark/],
  ['a gzip that is cut', (entries) => craft(crafted(entries)).subarray(0, -30), /gzip/],
  [
    'a gzip with a wrong checksum',
    (entries) => wrongSum(adding({ name: file, content: randomBytes(2e6) })(entries)),
    /gzip/,
  ],
  [
    'a second archive behind the end',
    (entries) => Buffer.concat([craft(crafted(entries)), craft([{ name: 'x', content: 'x' }])]),
    /behind/,
  ],
  // Version and JSON
  [
    'no version',
    (entries) => craft(crafted(entries).filter(({ name }) => name !== 'VERSION')),
    /Incorrect VERSION format/,
  ],
  ['another version', having('VERSION', () => '9.9.9\n'), /Import version mismatch: Required 0\.2\.4 but was 9\.9\.9/],
  ['a version that is none', having('VERSION', () => 'newest\n'), /Incorrect VERSION format/],
  ['a version of a megabyte', having('VERSION', () => '0'.repeat(1_000_000)), /Incorrect VERSION format/],
  ['no project', (entries) => craft(crafted(entries).filter(({ name }) => name !== 'tree/project.json')), /no project/],
  ['a project that is no JSON', having('tree/project.json', () => '{'), /Incorrect JSON format/],
  ['a project that is a list', having('tree/project.json', () => '[]'), /not a JSON object/],
  ['a project of 20 MB', having('tree/project.json', () => `{"x":"${'x'.repeat(20_000_000)}"}`), /larger than/],
  ['a record that is no JSON', line('issues', '{"iid":1\n'), /issues, line 1: Incorrect JSON format/],
  ['a record that is a number', line('issues', '7\n'), /not a JSON object/],
  ['a record that is not UTF-8', line('labels', Buffer.from('{"title":"\xff"}\n', 'latin1')), /Incorrect JSON format/],
  ['a record of 20 MB', line('labels', `{"title":"${'x'.repeat(20_000_000)}"}\n`), /longer than/],
  [
    'a record that is nested a million times',
    line('labels', `${'['.repeat(1_000_000)}\n`),
    /Incorrect JSON|not a JSON/,
  ],
  [
    'a coverage of more than a hundred per cent',
    line(
      'statuses',
      `${JSON.stringify({ pipeline: 1, name: 'a', ref: 'main', stage: 'b', status: 'success', coverage: 1e300 })}\n`,
    ),
    /statuses, line 1: coverage is not valid/,
  ],
  ['a record without what it needs', line('issues', '{}\n'), /is missing/],
  ['a record that hides in __proto__', line('issues', '{"__proto__":{"iid":1}}\n'), /is missing/],
  // Values
  ['a NUL in a title', relation('issues', (record) => ({ ...record, title: 'a\0b' })), /title is not valid/],
  [
    'half a character in a title',
    relation('issues', (record) => ({ ...record, title: '\ud800' })),
    /title is not valid/,
  ],
  ['a title that is a number', relation('issues', (record) => ({ ...record, title: 7 })), /title is not valid/],
  ['a title of 256 characters', relation('issues', (record) => ({ ...record, title: 'x'.repeat(256) })), /not valid/],
  [
    'a description of two million characters',
    relation('issues', (r) => ({ ...r, description: 'x'.repeat(3e6) })),
    /not valid/,
  ],
  ['an unknown state', relation('issues', (record) => ({ ...record, state: 'deleted' })), /state is not valid/],
  ['the number 0', relation('issues', (record) => ({ ...record, iid: 0 })), /iid is not valid/],
  ['a number beyond 31 bits', relation('issues', (record) => ({ ...record, iid: 2 ** 31 })), /iid is not valid/],
  ['a number after which none is left', relation('issues', (r) => ({ ...r, iid: 2 ** 31 - 1 })), /iid is not valid/],
  ['a number with a fraction', relation('issues', (record) => ({ ...record, iid: 1.5 })), /iid is not valid/],
  [
    '30 February',
    relation('issues', (r) => ({ ...r, created_at: '2020-02-30T00:00:00.000Z' })),
    /created_at is not valid/,
  ],
  [
    'the year 0',
    relation('issues', (r) => ({ ...r, created_at: '0000-01-01T00:00:00.000Z' })),
    /created_at is not valid/,
  ],
  ['a time that is SQL', relation('issues', (r) => ({ ...r, created_at: "now()'); drop table users" })), /not valid/],
  ['a color that is SQL', relation('labels', (r) => ({ ...r, color: "'); --" })), /color is not valid/],
  [
    'a discussion id that is none',
    relation('issue_notes', (r) => ({ ...r, discussion_id: 'x' })),
    /discussion_id is not valid/,
  ],
  ['two issues with one number', having('tree/project/issues.ndjson', (text) => text + text), /contradicts the rules/],
  // References
  ['a note of an issue that is not there', relation('issue_notes', (r) => ({ ...r, issue: 9 })), /does not exist/],
  ['a note of issue -1', relation('issue_notes', (r) => ({ ...r, issue: -1 })), /issue is not valid/],
  ['a label id beyond all', relation('issue_labels', (r) => ({ ...r, label: 2 ** 52 })), /does not exist/],
  ['an author that is an object', relation('issues', (r) => ({ ...r, author: { id: 1 } })), /author is not valid/],
  [
    'a large file with another content',
    adding({ name: `lfs-objects/${'0'.repeat(64)}`, content: 'x' }),
    /does not have the content/,
  ],
  // Bundles
  ['a bundle that is none', having('project.bundle', () => 'no bundle\n\n'), /not a git bundle/],
  ['a bundle that ends in its header', having('project.bundle', () => '# v2 git bundle\n'), /ends within its header/],
  ['a bundle with prerequisites', bundle((header) => `${header}\n-${'1'.repeat(40)} base`), /prerequisites/],
  [
    'a bundle without a pack',
    having('project.bundle', (t) => `${t.slice(0, t.indexOf('\n\n'))}\n\n`),
    /pack is not valid/,
  ],
  ['a ref with ..', added('refs/heads/../x'), /not allowed/],
  ['a ref that leaves the repository', added('refs/../../config'), /not allowed/],
  ['a ref that is a lock', added('refs/heads/x.lock'), /not allowed/],
  ['a branch like an option', added('refs/heads/--upload-pack=x'), /not allowed/],
  ['a branch named HEAD', added('refs/heads/HEAD'), /not allowed/],
  ['a ref with a control character', added('refs/heads/a\u0001b'), /not allowed/],
  ['a hidden ref', added('refs/stithy/x'), /not allowed/],
  ['a replacement of objects', added('refs/replace/x'), /not allowed/],
  ['one ref twice', bundle((h) => `${h}\n${h.split('\n')[1]}`), /there twice/],
  ['refs that exclude each other', added('refs/heads/main/x'), /exclude each other/],
  ['a ref of an object that is missing', bundle((h) => `${h}\n${'1'.repeat(40)} refs/heads/x`), /not in the pack/],
  ['a pack with a wrong checksum', pack((bytes) => flipped(bytes, bytes.length - 1)), /pack is not valid/],
  ['a pack with damaged objects', pack((bytes) => flipped(bytes, Math.floor(bytes.length / 2))), /pack is not valid/],
  ['a pack that is cut', pack((bytes) => bytes.subarray(0, bytes.length - 25)), /pack is not valid/],
  ['a pack of another version', pack((bytes) => flipped(bytes, 7)), /pack is not valid/],
]

describe('hostile archives', () => {
  test('there are at least 80 of them', () => expect(cases.length).toBeGreaterThanOrEqual(80))

  test.for(cases)('%s: refused with a reason, and nothing is left', async ([, make, reason], { world }) => {
    const archive = make(await honest(world))
    const made = await upload(world.root, archive, { path: unique('hostile') })
    expect(made.status).toBe(201)
    const { id } = made.json
    await runImport(world, id)
    const { json } = await world.root.get(`/projects/${id}/import`)
    expect(json).toMatchObject({ import_status: 'failed', import_error: expect.stringMatching(reason) })
    expect(json.import_error).not.toMatch(/\/(tmp|dev|work)\//)
    expect((await world.root.get(`/projects/${id}/issues`)).json).toEqual([])
    expect((await world.root.get(`/projects/${id}/labels`)).json).toEqual([])
    expect((await world.root.get(`/projects/${id}/repository/branches`)).json).toEqual([])
    expect(await archiveImports(world, id)).toEqual([])
  })
})

describe('archives that are too much', () => {
  const unpacked = async (archive: Buffer, limits: UnpackLimits) => {
    await using folder = await temporaryFolder()
    const into = join(folder.path, 'entries')
    await mkdir(into)
    return await unpack(Readable.from([archive]), into, limits)
  }

  test('an archive that unpacks to more than its limit is refused, whatever its headers say', async () => {
    const bomb = craft([{ name: 'VERSION', content: Buffer.alloc(20_000_000) }])
    expect(bomb.length).toBeLessThan(200_000)
    await expect(unpacked(bomb, { bytes: 1_000_000, entries: 10 })).rejects.toThrow('much larger unpacked')
  })

  test('a million entries are refused at the limit', async () => {
    const many = craft(Array.from({ length: 30 }, (_, index) => ({ name: `entry-${index}` })))
    await expect(unpacked(many, { bytes: 1_000_000, entries: 29 })).rejects.toThrow('more than 29 entries')
    expect((await unpacked(many, { bytes: 1_000_000, entries: 30 })).size).toBe(30)
    expect(limitsFor(0).entries).toBeLessThan(1_000_000)
  })

  test('the limit grows with the archive', () => {
    expect(limitsFor(10).bytes).toBe(1024 ** 3)
    expect(limitsFor(1024 ** 3).bytes).toBe(30 * 1024 ** 3)
  })
})
