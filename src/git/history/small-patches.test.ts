import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Oid } from '../format/oid.ts'
import { readCommit } from '../objects/commits.ts'
import { type TestFile, TestGit, type TestRepository } from '../testing.ts'
import type { PatchLimits } from './patch-reader.ts'
import { patchesBetweenTrees } from './patches.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

const plenty: PatchLimits = { files: 1000, lines: 50_000, bytes: 5_000_000, fileBytes: 200 * 1024 }

const treeOf = async ({ repo }: TestRepository, commit: Oid) => (await readCommit(repo, commit))!.tree

/** The difference as long-lived processes read it, and as a process of its own reads it. */
async function bothWays(made: TestRepository, from: Oid, to: Oid, limits = plenty) {
  const { repo } = made
  let processes = 0
  const { start, helper } = repo
  repo.withSignal = () => repo
  repo.start = (...words) => {
    processes++
    return start.apply(repo, words)
  }
  const shared = await patchesBetweenTrees(repo, from, to, limits)
  expect(processes).toBe(0)
  repo.git.cache.clear()
  repo.helper = (name, ...words) =>
    name === 'cat-file' ? helper.call(repo, name, ...words) : Promise.reject(new Error('no helper'))
  const own = await patchesBetweenTrees(repo, from, to, limits)
  expect(processes).toBe(1)
  Object.assign(repo, { start, helper })
  repo.git.cache.clear()
  return { shared, own }
}

const text = (word: string) => Array.from({ length: 30 }, (_, line) => `${word} ${line}\n`).join('')

const before: Record<string, TestFile> = {
  changed: text('a'),
  end: 'end\nend\n',
  'end\nend\n': 'end',
  gone: text('g'),
  moved: text('m'),
  copied: text('c'),
  binary: Buffer.from([0, 1, 2, 10, 101, 110, 100, 10]),
  'no newline': 'one\nend',
  script: text('s'),
  turned: text('t'),
  sub: { mode: '160000', oid: 'a'.repeat(40) as Oid },
  'ünï/ä b': text('u'),
  latin: Buffer.from('caf\xe9\nend\n', 'latin1'),
}

const after: Record<string, TestFile> = {
  changed: text('a').replace('a 7\n', 'end\n'),
  end: 'end\nother\nend\n',
  'end\nend\n': 'end\nend\n',
  gone: null,
  moved: null,
  'moved to': `${text('m')}end\n`,
  'copied to': text('c'),
  binary: Buffer.from([0, 1, 3, 10, 101, 110, 100, 10]),
  'no newline': 'two\nend',
  script: { mode: '100755', content: text('s') },
  turned: { mode: '120000', content: 'changed' },
  sub: { mode: '160000', oid: 'b'.repeat(40) as Oid },
  'ünï/ä b': text('u').replaceAll('u', 'end'),
  latin: Buffer.from('th\xe9\nend\n', 'latin1'),
}

test('a small diff read by a long-lived process equals that of a process of its own, for every kind of change', async () => {
  const made = await world.repository()
  const [from, to] = [await treeOf(made, made.commit(before)), await treeOf(made, made.commit(after))]
  for (const [old, now] of [
    [from, to],
    [to, from],
  ] as const) {
    const { shared, own } = await bothWays(made, old, now)
    expect(shared).toEqual(own)
    expect(shared.files.length).toBeGreaterThan(12)
  }
})

test('a small diff ends at the same limits, however it is read', async () => {
  const made = await world.repository()
  const [from, to] = [await treeOf(made, made.commit(before)), await treeOf(made, made.commit(after))]
  for (const limits of [
    { ...plenty, files: 3 },
    { ...plenty, lines: 40 },
    { ...plenty, bytes: 300 },
    { ...plenty, fileBytes: 20 },
    { ...plenty, files: 0 },
  ]) {
    const { shared, own } = await bothWays(made, from, to, limits)
    expect(shared).toEqual(own)
  }
})

test('diffs requested together belong to their trees', async () => {
  const made = await world.repository()
  const commits = Array.from({ length: 12 }, (_, n) =>
    made.commit({ [`f${n % 5}`]: text(`end ${n}`), end: `${n}\nend\n` }),
  )
  const trees = await Promise.all(commits.map((commit) => treeOf(made, commit)))
  const pairs = trees.flatMap((from) => trees.filter((to) => to !== from).map((to) => [from, to] as const))
  const found = await Promise.all(pairs.map(([from, to]) => patchesBetweenTrees(made.repo, from, to, plenty)))
  for (const [at, [from, to]] of pairs.entries()) {
    const hunks = found[at]!.files.map((file) => file.text).join('')
    const expected = made.git('diff-tree', '-p', '-r', '-M', from, to).split(/^diff --git .*$/m)
    expect(hunks.trimEnd()).toBe(
      expected
        .map((patch) => /^@@ [\s\S]*/m.exec(patch)?.[0] ?? '')
        .join('')
        .trimEnd(),
    )
  }
})

test('a diff of a large file is not left to a process that others wait for', async () => {
  const made = await world.repository()
  const large = (word: string) => Array.from({ length: 60_000 }, (_, line) => `${word} ${line}\n`).join('')
  const [from, to] = [
    await treeOf(made, made.commit({ large: large('before') })),
    await treeOf(made, made.commit({ large: large('after') })),
  ]
  const { start } = world.runner
  const flags: string[] = []
  world.runner.start = (words, options) => {
    flags.push(...words)
    return start.call(world.runner, words, options)
  }
  try {
    const { files } = await patchesBetweenTrees(made.repo, from, to, { ...plenty, fileBytes: 10_000_000, lines: 1e6 })
    expect(files[0]!.text).toContain('+after 59999\n')
  } finally {
    world.runner.start = start
  }
  expect(flags.filter((word) => word === '-p')).toHaveLength(1)
  expect(flags.indexOf('-p')).toBeGreaterThan(flags.lastIndexOf('--stdin'))
})
