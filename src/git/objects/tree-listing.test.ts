import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Oid } from '../format/oid.ts'
import { gitIn, TestGit } from '../testing.ts'
import { TreeEdit } from './tree-edit.ts'
import { indexOfPath, listTree, TreeListing } from './tree-listing.ts'
import { findEntry, readTreeAt } from './trees.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

/** Stores a tree with the content, however unusual. */
const storeTree = (gitDir: string, content: Buffer): Oid =>
  gitIn(gitDir, ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], content) as Oid

const entry = (mode: string, name: string, oid: Oid) =>
  Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')])

test('a recursive listing is that of git ls-tree, also of commits with common directories and of old modes', async () => {
  const made = await world.repository()
  const blob = gitIn(made.gitDir, ['hash-object', '-w', '--stdin'], Buffer.from('x')) as Oid
  const odd = storeTree(
    made.gitDir,
    Buffer.concat([entry('100664', 'a', blob), entry('100775', 'b', blob), entry('120000', 'c', blob)]),
  )
  const commits = [
    made.commit({ 'd/e/f': '1', 'd/g': '2', 'd.x': '3', 'd-x/y': '4', z: '5' }),
    made.commit({ 'd/e/f': 'changed', 'd/é/h': '6', sub: { mode: '160000', oid: 'c'.repeat(40) as Oid } }),
    made.commit({ d: 'a file now', 'd.x/y': '7', 'd.x': null }),
    made.git('commit-tree', '-m', 'Old modes', storeTree(made.gitDir, entry('40000', 'old', odd))) as Oid,
  ]
  for (const commit of commits) {
    const expected = made
      .git('ls-tree', '-r', '-t', '-z', commit)
      .split('\0')
      .filter((line) => line !== '')
    const order = ['tree', 'blob', 'commit']
    const listed = (await listTree(made.repo, commit, '', { recursive: true }))!
    expect(listed.slice().map(({ mode, type, oid, path }) => `${mode} ${type} ${oid}\t${path}`)).toEqual(
      order.flatMap((type) => expected.filter((line) => line.split(' ')[1] === type)),
    )
    expect(listed.slice(1, 3)).toEqual(listed.slice().slice(1, 3))
    for (const wanted of ['d.x/y', 'd/e/f', 'z', 'd.x', 'none', 'd/none', 'none/z'])
      expect(indexOfPath(listed, wanted)).toBe(listed.slice().findIndex(({ path }) => path === wanted))
  }
})

const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904' as Oid
const emptyBlob = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391' as Oid

test('a listing of one directory has the modes of git ls-tree, and a change of a file keeps the others as they are stored', async () => {
  const made = await world.repository()
  const blob = gitIn(made.gitDir, ['hash-object', '-w', '--stdin'], Buffer.from('x')) as Oid
  const below = storeTree(made.gitDir, entry('100644', 'x', blob))
  const tree = storeTree(
    made.gitDir,
    Buffer.concat([
      entry('100664', 'a', blob),
      entry('100775', 'b', blob),
      entry('0040000', 'c', below),
      entry('120000', 'd', blob),
      entry('40000', 'e', below),
      entry('160000', 'f', 'c'.repeat(40) as Oid),
    ]),
  )
  const commit = made.git('commit-tree', '-m', 'Old modes', tree) as Oid
  const listed = (await listTree(made.repo, commit, ''))!
    .slice()
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
  expect(listed.map(({ mode, type, oid, path }) => `${mode} ${type} ${oid}\t${path}`)).toEqual(
    made.git('ls-tree', commit).split('\n'),
  )
  const edit = await TreeEdit.of(made.repo, tree)
  await edit.put('d', { mode: '100644', oid: blob })
  await edit.put('c/y', { mode: '100644', oid: blob })
  const { objects } = await edit.finish()
  const stored = objects.at(-1)!.content.toString('latin1')
  expect(stored.match(/\d+ [a-f]\0/g)).toEqual([
    '100664 a\0',
    '100775 b\0',
    '40000 c\0',
    '100644 d\0',
    '40000 e\0',
    '160000 f\0',
  ])
})

/** Directories nested to a depth, each with `wide` names for the same one, and a file at the end. */
async function nested(depth: number, wide: number) {
  const made = await world.repository()
  let tree = emptyBlob
  for (let level = 0; level <= depth; level++)
    tree = storeTree(
      made.gitDir,
      Buffer.concat(Array.from({ length: wide }, (_, n) => entry(level === 0 ? '100644' : '40000', `n${n}`, tree))),
    )
  return { made, commit: made.git('commit-tree', '-m', 'Many', tree) as Oid }
}

test.for([
  ['repeats a subtree a hundred million times', 7, 10],
  ['repeats a subtree so that it has 1.1 million entries', 5, 10],
  ['has more than 500 levels', 501, 1],
] as const)('a recursive listing of a tree that %s is refused', async ([, depth, wide]) => {
  const { made, commit } = await nested(depth, wide)
  await expect(listTree(made.repo, commit, '', { recursive: true })).rejects.toMatchObject({ kind: 'too_large' })
})

test('a recursive listing of a tree with 500 levels is complete', async () => {
  const { made, commit } = await nested(500, 1)
  expect(await listTree(made.repo, commit, '', { recursive: true })).toHaveLength(501)
})

test('a recursive listing of hundreds of thousands of files decodes only those of a page, and one of more than a million is refused', async () => {
  const made = await world.repository()
  const commitOf = (files: number) => {
    const names = Array.from({ length: files }, (_, n) => entry('100644', String(n).padStart(7, '0'), emptyBlob))
    return made.git('commit-tree', '-m', 'Wide', storeTree(made.gitDir, Buffer.concat(names))) as Oid
  }
  const listed = await listTree(made.repo, commitOf(300_000), '', { recursive: true })
  expect(listed).toBeInstanceOf(TreeListing)
  expect(listed?.slice(299_999)).toMatchObject([{ path: '0299999' }])
  const tooWide = commitOf(1_000_001)
  await expect(listTree(made.repo, tooWide, '', { recursive: true })).rejects.toMatchObject({ kind: 'too_large' })
})

test.each([true, false])(
  'a wide directory is listed and its entries are found without decoding all of them, packed: %s',
  async (packed) => {
    const made = await world.repository()
    const name = (index: number) => `${index}`.padStart(40, '0')
    const entries = Array.from({ length: 10_000 }, (_, index) =>
      entry(index % 2 ? '100644' : '40000', name(index), index % 2 ? emptyBlob : emptyTree),
    )
    const wide = storeTree(made.gitDir, Buffer.concat(entries))
    storeTree(made.gitDir, Buffer.alloc(0))
    gitIn(made.gitDir, ['hash-object', '-w', '--stdin'])
    const root = storeTree(made.gitDir, entry('40000', 'd', wide))
    const commit = made.git('commit-tree', '-m', 'Wide', root) as Oid
    if (packed) {
      made.git('update-ref', 'refs/heads/main', commit)
      made.git('repack', '-adq')
    }
    const listed = (await listTree(made.repo, commit, 'd'))!
    expect(listed).toBeInstanceOf(TreeListing)
    expect(listed.length).toBe(10_000)
    expect(listed.slice(4999, 5001)).toEqual([
      { mode: '040000', type: 'tree', oid: emptyTree, path: `d/${name(9998)}`, name: name(9998) },
      { mode: '100644', type: 'blob', oid: emptyBlob, path: `d/${name(1)}`, name: name(1) },
    ])
    expect(await findEntry(made.repo, commit, `d/${name(7777)}`)).toMatchObject({
      mode: '100644',
      oid: emptyBlob,
      sizeBytes: 0,
    })
    expect(await findEntry(made.repo, commit, `d/${name(7778)}`)).toMatchObject({ type: 'tree', oid: emptyTree })
    expect(await findEntry(made.repo, commit, 'd/none')).toBeUndefined()
    expect(await readTreeAt(made.repo, commit, 'd')).toHaveLength(10_000)
    expect(indexOfPath(listed, `d/${name(1)}`)).toBe(5000)
    expect(indexOfPath(listed, name(1))).toBe(-1)
  },
)

test('a recursive listing fails if a directory is missing or malformed', async () => {
  const made = await world.repository()
  for (const below of ['1'.repeat(40) as Oid, storeTree(made.gitDir, Buffer.from('100644 cut off\x0a3'))]) {
    const commit = made.git('commit-tree', '-m', 'Broken', storeTree(made.gitDir, entry('40000', 'd', below))) as Oid
    await expect(listTree(made.repo, commit, '', { recursive: true })).rejects.toMatchObject({ kind: 'unavailable' })
  }
})

test('a directory below one that is lost is damage, not absent', async () => {
  const made = await world.repository()
  const root = storeTree(made.gitDir, entry('40000', 'a', 'd'.repeat(40) as Oid))
  const commit = made.git('commit-tree', '-m', 'Lost', root) as Oid
  await expect(listTree(made.repo, commit, 'a/b')).rejects.toMatchObject({ kind: 'unavailable' })
  await expect(findEntry(made.repo, commit, 'a/b/c')).rejects.toMatchObject({ kind: 'unavailable' })
})

test('a recursive listing of another commit starts no process', async () => {
  const made = await world.repository()
  const [first, second] = [made.commit({ 'a/b': '1', 'c/d': '2' }), made.commit({ 'a/b': '3' })]
  await listTree(made.repo, first, '', { recursive: true })
  const { start } = world.runner
  const started: string[][] = []
  world.runner.start = (words, options) => {
    started.push([...words])
    return start.call(world.runner, words, options)
  }
  try {
    expect(await listTree(made.repo, second, '', { recursive: true })).toHaveLength(4)
  } finally {
    world.runner.start = start
  }
  expect(started).toEqual([])
})
