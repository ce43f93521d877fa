import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { emptyTreeOid, type Oid } from '../format/oid.ts'
import { pathFromBytes, pathToBytes } from '../format/path-bytes.ts'
import { aheadBehind, isAncestor, mergeBase, refsContaining } from '../history/ancestry.ts'
import { changesBetweenTrees, commitChanges, commitStats } from '../history/changes.ts'
import { countCommits, lastCommitOfPath, listCommits } from '../history/history.ts'
import { setDefaultBranch } from '../refs/head.ts'
import { listRefs } from '../refs/refs.ts'
import { getCached } from '../repository/memoize.ts'
import { gitIn, TestGit } from '../testing.ts'
import { blobStream, readBlob } from './blobs.ts'
import { readCommit, readCommits, readCommitsWithin } from './commits.ts'
import { formatSignatureTime } from './signature.ts'
import { readTag } from './tags.ts'
import { listTree } from './tree-listing.ts'
import { findEntry, readTree } from './trees.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

const submodule = 'c'.repeat(40) as Oid
const oddPaths = [
  'a b',
  'quote"d',
  "it's",
  'new\nline',
  'tab\t',
  'back\\slash',
  'ünï',
  '-dash',
  ':colon',
  '*',
  pathFromBytes(Buffer.from([0xff, 0x61, 0xc3])),
  'dir with\nnewline/x"y',
]

describe('paths', () => {
  test('paths that are not UTF-8 keep their bytes', () => {
    for (let run = 0; run < 2000; run++) {
      const bytes = createHash('sha256').update(String(run)).digest()
      expect(pathToBytes(pathFromBytes(bytes)).equals(bytes)).toBe(true)
    }
  })

  test.each(oddPaths.map((path) => [path]))('the path %j is found, read, listed and followed', async (path) => {
    const { repo, commit } = await odd()
    const entry = await findEntry(repo, commit, path)
    expect(entry).toMatchObject({ path, type: 'blob', mode: '100644', sizeBytes: Buffer.byteLength(pathToBytes(path)) })
    expect((await readBlob(repo, entry!.oid))?.content).toEqual(pathToBytes(path))
    expect((await listTree(repo, commit, '', { recursive: true }))?.slice().map((it) => it.path)).toContain(path)
    expect((await commitChanges(repo, commit))?.files.find((file) => file.newPath === path)).toMatchObject({
      status: 'added',
      additions: (pathToBytes(path).toString('latin1').match(/\n/g)?.length ?? 0) + 1,
    })
    expect((await lastCommitOfPath(repo, commit, path))?.oid).toBe(commit)
  })

  let made: Promise<{ repo: Awaited<ReturnType<TestGit['repository']>>['repo']; commit: Oid }> | undefined
  const odd = () =>
    (made ??= (async () => {
      const repository = await world.repository()
      const commit = repository.commit(Object.fromEntries(oddPaths.map((path) => [path, pathToBytes(path)])))
      repository.commit({ other: 'x' })
      return { repo: repository.repo, commit }
    })())
})

describe('a tree', () => {
  test('a tree lists directories, files, then submodules, with modes and types', async () => {
    const made = await world.repository()
    const commit = made.commit({
      'z/deep/file': 'x',
      'a.txt': 'x',
      'b/file': 'x',
      link: { mode: '120000', content: 'a.txt' },
      module: { mode: '160000', oid: submodule },
      run: { mode: '100755', content: '#!' },
      'a/file': 'x',
    })
    expect(
      (await listTree(made.repo, commit, ''))?.slice().map(({ mode, type, path }) => `${mode} ${type} ${path}`),
    ).toEqual([
      '040000 tree a',
      '040000 tree b',
      '040000 tree z',
      '100644 blob a.txt',
      '120000 blob link',
      '100755 blob run',
      '160000 commit module',
    ])
    expect(
      (await listTree(made.repo, commit, 'z', { recursive: true }))
        ?.slice()
        .map(({ type, path, name }) => `${type} ${path} ${name}`),
    ).toEqual(['tree z/deep deep', 'blob z/deep/file file'])
    expect((await listTree(made.repo, commit, '', { recursive: true }))?.slice().map(({ path }) => path)).toEqual([
      'a',
      'b',
      'z',
      'z/deep',
      'a.txt',
      'a/file',
      'b/file',
      'link',
      'run',
      'z/deep/file',
      'module',
    ])
    expect(await findEntry(made.repo, commit, 'module')).toEqual({
      path: 'module',
      name: 'module',
      type: 'commit',
      mode: '160000',
      oid: submodule,
      sizeBytes: undefined,
    })
    expect(await findEntry(made.repo, commit, 'link')).toMatchObject({ type: 'blob', mode: '120000', sizeBytes: 5 })
    expect(await findEntry(made.repo, commit, 'z/deep')).toMatchObject({
      type: 'tree',
      mode: '040000',
      sizeBytes: undefined,
    })
    expect(await listTree(made.repo, commit, 'a.txt')).toBeUndefined()
    expect(await listTree(made.repo, commit, 'a.txt', { recursive: true })).toBeUndefined()
  })

  test('a tree of 3,000 entries is that of git ls-tree', async () => {
    const made = await world.repository()
    const commit = made.commit(
      Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`d${n % 7}/f${n}`, String(n)])),
    )
    const expected = made
      .git('ls-tree', '-r', '-t', commit)
      .split('\n')
      .map((line) => line.split('\t')[1]!)
    expect(
      (await listTree(made.repo, commit, '', { recursive: true }))
        ?.slice()
        .map(({ path }) => path)
        .toSorted(),
    ).toEqual(expected.toSorted())
    expect((await readTree(made.repo, commit))?.map(({ name }) => name)).toEqual([
      'd0',
      'd1',
      'd2',
      'd3',
      'd4',
      'd5',
      'd6',
    ])
  })
})

describe('a commit', () => {
  test('a commit is read with author, committer, time zone, parents and message', async () => {
    const made = await world.repository()
    const first = made.commit({ a: '1' }, { message: 'Grüße\n\nbody\n', seconds: 1_600_000_000 })
    const second = made.commit({ a: '2' }, { parents: [first] })
    const [one, two, none] = await readCommits(made.repo, [first, second, 'd'.repeat(40) as Oid])
    expect(one).toMatchObject({
      oid: first,
      parents: [],
      message: 'Grüße\n\nbody\n',
      author: { name: 'Ann', email: 'ann@example.com', seconds: 1_600_000_000, offsetMinutes: 60 },
      committer: { name: 'Cid', offsetMinutes: 0 },
      signature: undefined,
    })
    expect(formatSignatureTime(one!.author)).toBe('2020-09-13T13:26:40.000+01:00')
    expect(formatSignatureTime({ ...one!.author, offsetMinutes: -210 })).toBe('2020-09-13T08:56:40.000-03:30')
    expect(formatSignatureTime({ ...one!.author, offsetMinutes: 99 * 60 + 99 })).toBe('2020-09-13T12:26:40.000+00:00')
    expect(two?.parents).toEqual([first])
    expect(two?.tree).toBe(made.git('rev-parse', `${second}^{tree}`))
    expect(none).toBeUndefined()
  })

  test('of many commits with long messages only as many are read as fit', async () => {
    const made = await world.repository()
    const [short, long] = ['x', 'x'.repeat(200_000)]
    const oids = [short, long, long, short, long, long].map((message) => made.commit({}, { message, parents: [] }))
    const { commits, cut } = await readCommitsWithin(made.repo, oids, 500_000)
    expect(cut).toBe(true)
    expect(commits.map(({ oid }) => oid)).toEqual(oids.slice(0, 4))
    // The one that does not fit is read, too.
    expect(oids.map((oid) => getCached(made.repo, `commit ${oid}`) !== undefined)).toEqual([
      ...Array(5).fill(true),
      false,
    ])
    expect((await readCommitsWithin(made.repo, oids, 2_000_000)).commits.map(({ oid }) => oid)).toEqual(oids)
  })

  test('commits in another encoding, signed or malformed are read', async () => {
    const made = await world.repository()
    const tree = made.git('hash-object', '-t', 'tree', '-w', '--stdin')
    const store = (text: string) =>
      gitIn(
        made.gitDir,
        ['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'],
        Buffer.from(text, 'latin1'),
      ) as Oid
    const latin = await readCommit(
      made.repo,
      store(
        `tree ${tree}\nauthor J\xf6rg <j@x> 1 +0000\ncommitter J\xf6rg <j@x> 1 +0000\nencoding ISO-8859-1\n\nGr\xfc\xdfe\n`,
      ),
    )
    expect(latin).toMatchObject({ message: 'Grüße\n', author: { name: 'Jörg' } })
    // Git writes what `i18n.commitEncoding` says, and converts nothing.
    const mislabelled = await readCommit(
      made.repo,
      store(
        `tree ${tree}\nauthor A <a@x> 1 +0000\ncommitter B <b@x> 2 +0000\nencoding UTF-16\n\nGr\xc3\xbc\xc3\x9fe\n`,
      ),
    )
    expect(mislabelled).toMatchObject({ tree, message: 'Grüße\n', author: { name: 'A' }, committer: { seconds: 2 } })
    const [shifted, unended] = await Promise.all(
      ['\x1b$B8+\x1b(B', '\x1b$B8+'].map((name) =>
        readCommit(
          made.repo,
          store(
            `tree ${tree}\nauthor ${name} <a@x> 1 +0000\ncommitter B <b@x> 2 +0000\nencoding ISO-2022-JP\n\n\x1b$B8+\x1b(B\n`,
          ),
        ),
      ),
    )
    expect(shifted).toMatchObject({ tree, message: '見\n', author: { name: '見', email: 'a@x' } })
    expect(unended).toMatchObject({ tree, message: '見\n', committer: { name: 'B', email: 'b@x', seconds: 2 } })
    const signed = await readCommit(
      made.repo,
      store(
        `tree ${tree}\nauthor A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\ngpgsig -----BEGIN\n \n abc\n -----END\n\nm`,
      ),
    )
    expect(signed).toMatchObject({ signature: '-----BEGIN\n\nabc\n-----END', message: 'm' })
    const broken = await readCommit(made.repo, store(`tree ${tree}\nauthor <> nonsense\ncommitter\n\n`))
    expect(broken).toMatchObject({ author: { name: '', email: '', seconds: 0 }, message: '' })
  })

  test('objects are not readable through a repository that lacks them', async () => {
    const [here, there] = [await world.repository(), await world.repository()]
    const oid = here.commit({ secret: 'x' })
    const blob = (await findEntry(here.repo, oid, 'secret'))!.oid
    expect(await readBlob(here.repo, blob)).toBeDefined()
    expect(await readCommit(there.repo, oid)).toBeUndefined()
    expect(await readBlob(there.repo, blob)).toBeUndefined()
    expect(await readTree(there.repo, oid)).toBeUndefined()
  })
})

test('an annotated tag is read with its tagger; a lightweight tag is not an object', async () => {
  const made = await world.repository()
  const oid = made.commit({ a: '1' })
  made.git('-c', 'user.name=Ann', 'tag', '-a', '-m', 'First\n\n-----BEGIN PGP SIGNATURE-----\nx', 'v1', oid)
  made.git('tag', 'light', oid)
  const refs = await listRefs(made.repo, 'refs/tags/')
  expect(refs).toMatchObject([
    { name: 'refs/tags/light', type: 'commit', oid, target: oid },
    { name: 'refs/tags/v1', type: 'tag', target: oid },
  ])
  expect(await readTag(made.repo, refs[1]!.oid)).toMatchObject({
    name: 'v1',
    target: oid,
    targetType: 'commit',
    message: 'First\n\n',
    signature: '-----BEGIN PGP SIGNATURE-----\nx\n',
    tagger: { name: 'Ann' },
  })
  expect(await readTag(made.repo, oid)).toBeUndefined()
})

describe('history', () => {
  test('history is filtered and paged as in git', async () => {
    const made = await world.repository()
    const base = made.commit({ 'a.txt': '1' }, { message: 'Start', seconds: 1000 })
    const left = made.commit({ 'b.txt': '1' }, { message: 'Left', seconds: 2000, author: 'Bob <bob@example.com>' })
    const right = made.commit(
      { 'a.txt': '2' },
      { branch: 'side', parents: [base], message: 'Right (x+)+', seconds: 3000 },
    )
    const merge = made.commit({ 'a.txt': '2' }, { parents: [left, right], message: 'Merge', seconds: 4000 })
    const renamed = made.commit({ 'a.txt': null, 'c.txt': '2' }, { message: 'Rename', seconds: 5000 })
    const of = async (filters: object, page: object = {}) =>
      (await listCommits(made.repo, { from: [renamed], ...filters }, { limit: 10, ...page })).map(
        ({ message }) => message,
      )

    expect(await of({})).toEqual(['Rename', 'Merge', 'Right (x+)+', 'Left', 'Start'])
    expect(await of({}, { skip: 1, limit: 2 })).toEqual(['Merge', 'Right (x+)+'])
    expect(await of({ firstParent: true })).toEqual(['Rename', 'Merge', 'Left', 'Start'])
    expect(await of({ path: 'b.txt' })).toEqual(['Left'])
    expect(await of({ path: 'c.txt' })).toEqual(['Rename'])
    expect(await of({ path: 'c.txt', follow: true })).toEqual(expect.arrayContaining(['Rename', 'Start']))
    expect(await of({ since: new Date(2_000_000), until: new Date(3_000_000) })).toEqual(['Right (x+)+', 'Left'])
    expect(await of({ author: 'BOB@' })).toEqual(['Left'])
    expect(await of({ author: '.*' })).toEqual([])
    expect(await of({ message: '(x+)+' })).toEqual(['Right (x+)+'])
    expect(await of({ excluding: [right] })).toEqual(['Rename', 'Merge', 'Left'])
    expect(await of({ merges: 'none', from: 'all' })).toEqual(['Rename', 'Right (x+)+', 'Left', 'Start'])
    expect(await countCommits(made.repo, { from: [renamed] })).toBe(5)
    expect(await countCommits(made.repo, { from: [renamed] }, { atMost: 3 })).toBe(3)
    expect(await countCommits(made.repo, { from: 'all', excluding: [merge] })).toBe(1)
    expect((await lastCommitOfPath(made.repo, merge, 'a.txt'))?.oid).toBe(right)
    expect((await lastCommitOfPath(made.repo, merge, ''))?.oid).toBe(merge)

    expect(await isAncestor(made.repo, base, renamed)).toBe(true)
    expect(await isAncestor(made.repo, renamed, base)).toBe(false)
    expect(await mergeBase(made.repo, left, right)).toBe(base)
    expect(await aheadBehind(made.repo, renamed, right)).toEqual({ left: 3, right: 0 })
    expect((await refsContaining(made.repo, right)).map(({ name }) => name)).toEqual([
      'refs/heads/main',
      'refs/heads/side',
    ])
    expect((await refsContaining(made.repo, left)).map(({ name }) => name)).toEqual(['refs/heads/main'])
    const orphan = made.commit({ x: '1' }, { branch: 'orphan', parents: [] })
    expect(await mergeBase(made.repo, orphan, renamed)).toBeUndefined()
  })

  test('the history of an empty or missing repository or an unborn branch is empty', async () => {
    const empty = await world.repository()
    const missing = world.git.open(join(world.folder, 'missing.git'))
    for (const repo of [empty.repo, missing]) {
      expect(await listCommits(repo, { from: 'all' }, { limit: 5 })).toEqual([])
      expect(await countCommits(repo, { from: 'all' })).toBe(0)
      expect(await listCommits(repo, { from: [] }, { limit: 5 })).toEqual([])
      expect(await listRefs(repo, 'refs/')).toEqual([])
    }
    expect(empty.git('symbolic-ref', 'HEAD')).toBe('refs/heads/main')
    await setDefaultBranch(empty.repo, 'trunk/1')
    expect(empty.git('symbolic-ref', 'HEAD')).toBe('refs/heads/trunk/1')
    await expect(setDefaultBranch(empty.repo, 'a..b')).rejects.toMatchObject({ kind: 'invalid' })
  })
})

describe('changes', () => {
  test('changes have status, renames, modes, line counts and binary files; stats add them up', async () => {
    const made = await world.repository()
    const lines = Array.from({ length: 50 }, (_, n) => `line ${n}\n`).join('')
    const first = made.commit({ old: lines, gone: 'x\n', bin: Buffer.from([0, 1, 2]), same: 'x', kind: 'x\n' })
    const second = made.commit({
      old: null,
      'new\nname': `${lines}more\n`,
      gone: null,
      bin: Buffer.from([0, 3]),
      added: 'a\nb\n',
      kind: { mode: '120000', content: 'a.txt' },
      module: { mode: '160000', oid: submodule },
    })
    expect(
      (await commitChanges(made.repo, second))?.files.map((file) => [
        file.status,
        file.oldPath,
        file.newPath,
        file.additions,
        file.deletions,
        file.newMode,
      ]),
    ).toEqual([
      ['added', 'added', 'added', 2, 0, '100644'],
      ['modified', 'bin', 'bin', undefined, undefined, '100644'],
      ['deleted', 'gone', 'gone', 0, 1, '000000'],
      ['type_changed', 'kind', 'kind', 1, 1, '120000'],
      ['added', 'module', 'module', 1, 0, '160000'],
      ['renamed', 'old', 'new\nname', 1, 0, '100644'],
    ])
    expect(await commitStats(made.repo, first)).toEqual({ additions: 53, deletions: 0, total: 53 })
    expect(await commitStats(made.repo, second)).toEqual({ additions: 5, deletions: 2, total: 7 })
    const tree = (await readCommit(made.repo, first))!.tree
    const none = { additions: 0, deletions: 0, total: 0 }
    expect(await changesBetweenTrees(made.repo, tree, tree)).toEqual({ files: [], truncated: false, stats: none })
    expect((await changesBetweenTrees(made.repo, tree, emptyTreeOid)).files).toHaveLength(5)
    expect(await commitStats(made.repo, 'd'.repeat(40) as Oid)).toBeUndefined()
  })

  test('changed lines are all counted when the list of files is truncated', async () => {
    const made = await world.repository()
    const files = Array.from({ length: 21_000 }, (_, n) => `M 100644 inline ${n % 100}/${n}\ndata 2\n${n % 9}\n`)
    const commit = 'commit refs/heads/main\ncommitter C <c@example.com> 1700000000 +0000\ndata 1\nx\n'
    gitIn(made.gitDir, ['fast-import', '--quiet'], commit + files.join(''))
    const oid = made.git('rev-parse', 'main') as Oid
    expect(await commitChanges(made.repo, oid)).toMatchObject({ truncated: true, files: { length: 20_000 } })
    expect(await commitStats(made.repo, oid)).toEqual({ additions: 21_000, deletions: 0, total: 21_000 })
  })

  test('changes of a missing tree fail at once and do not fail others', async () => {
    const made = await world.repository()
    const oid = made.commit({ f: 'x\n' })
    const lost = changesBetweenTrees(made.repo, 'd'.repeat(40) as Oid, made.git('rev-parse', 'main^{tree}') as Oid)
    const stats = commitStats(made.repo, oid)
    await expect(lost).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await stats).toMatchObject({ additions: 1 })
  })

  test('stats of many commits in parallel belong to their commits', async () => {
    const made = await world.repository()
    const commits = Array.from({ length: 40 }, (_, n) => made.commit({ [`f${n}`]: 'x\n'.repeat(n + 1) }))
    const stats = await Promise.all(commits.map((oid) => commitStats(made.repo, oid)))
    expect(stats.map((it) => it?.additions)).toEqual(commits.map((_, n) => n + 1))
  })
})

describe('a blob', () => {
  // test/scenarios/memory.test.ts tests that it streams in little memory.
  test('a blob of 150 MB is streamed completely and refused by readBlob', async () => {
    const made = await world.repository()
    const size = 150 * 1024 * 1024
    const oid = gitIn(
      made.gitDir,
      ['hash-object', '-w', '--stdin', '-t', 'blob'],
      Buffer.alloc(size, 'abcdefgh'),
    ) as Oid
    await expect(readBlob(made.repo, oid)).rejects.toMatchObject({ kind: 'too_large' })
    const { stream, sizeBytes } = (await blobStream(made.repo, oid))!
    let read = 0
    for await (const chunk of stream) read += chunk.length
    expect([sizeBytes, read]).toEqual([size, size])
  })

  test('small and empty blobs are read, missing ones are undefined', async () => {
    const made = await world.repository()
    const commit = made.commit({ empty: '', small: 'hello' })
    const read = async (path: string) => {
      const found = await blobStream(made.repo, (await findEntry(made.repo, commit, path))!.oid)
      return Buffer.concat(await found!.stream.toArray()).toString()
    }
    expect([await read('empty'), await read('small')]).toEqual(['', 'hello'])
    expect(await blobStream(made.repo, 'd'.repeat(40) as Oid)).toBeUndefined()
    expect(await readBlob(made.repo, (await readCommit(made.repo, commit))!.tree)).toBeUndefined()
  })
})
