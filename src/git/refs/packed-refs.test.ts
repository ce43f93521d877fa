import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RefName } from '../format/ref-name.ts'
import { gitIn, TestGit, type TestRepository } from '../testing.ts'
import { PackedRefs } from './packed-refs.ts'
import { readRefFile } from './ref-files.ts'
import { listRefTips, type RefOrder } from './refs.ts'

const oidOf = (number: number) => (number + 1).toString(16).padStart(40, '0')
const fileOf = (lines: readonly string[]) => Buffer.from(lines.map((line) => `${line}\n`).join(''))

describe('a file of packed refs', () => {
  const name = fc
    .tuple(
      fc.constantFrom('refs/heads/', 'refs/heads-x/', 'refs/tags/', 'refs/stash', 'refs/'),
      fc.string({ unit: fc.constantFrom('a', 'b', '-', '0', '/', 'ü', '\ud83d\ude00', '\uffee'), maxLength: 4 }),
    )
    .map((parts) => parts.join(''))

  test('refs are found by name and folder, in the order of bytes, whatever order the lines have', () => {
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 40 }), (names) => {
        const refs = PackedRefs.parse(fileOf(['# header', ...names.map((each, index) => `${oidOf(index)} ${each}`)]))!
        for (const [index, each] of names.entries()) expect(refs.get(each)).toBe(oidOf(index))
        expect([...refs.folders].toSorted()).toEqual(
          [...new Set(names.map((each) => each.split('/', 2).join('/')))].toSorted(),
        )
        const inOrder = names.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
        for (const folder of ['refs/heads', 'refs/tags', 'refs/none'])
          expect(refs.below(folder).map((ref) => ref.name)).toEqual(
            inOrder.filter((each) => each.startsWith(`${folder}/`) && !/\/(?:\/|$)/.test(each)),
          )
      }),
    )
  })

  test.each([
    ['a line without an end', Buffer.from(`${oidOf(1)} refs/heads/a`)],
    ['the null id', fileOf([`${'0'.repeat(40)} refs/heads/a`])],
    ['an id that is too short', fileOf([`${'1'.repeat(39)} refs/heads/a`])],
    ['capital letters', fileOf([`${'A'.repeat(40)} refs/heads/a`])],
    ['an empty line', fileOf([`${oidOf(1)} refs/heads/a`, ''])],
    ['a name twice', fileOf([`${oidOf(1)} refs/heads/b`, `${oidOf(2)} refs/heads/a`, `${oidOf(3)} refs/heads/b`])],
    ['a name twice in order', fileOf([`${oidOf(1)} refs/heads/a`, `${oidOf(2)} refs/heads/a`])],
    ['other text', Buffer.from('damaged\n')],
  ])('a file with %s is left to git', (_, file) => {
    expect(PackedRefs.parse(file)).toBeUndefined()
  })
})

describe('a repository with tens of thousands of packed refs', () => {
  let fixtures: TestGit
  let real: TestRepository

  beforeAll(async () => {
    fixtures = await TestGit.start()
    real = await fixtures.repository()
    const commit = real.commit({ a: '1' })
    const tags = Array.from(
      { length: 3000 },
      (_, n) =>
        `tag v${n}\nfrom ${commit}\ntagger Ann <ann@example.com> ${1_700_000_000 + ((n * 7) % 1000)} +0000\ndata 1\nx\n`,
    )
    gitIn(real.gitDir, ['fast-import', '--quiet'], tags.join(''))
    real.git('tag', 'file', real.git('rev-parse', 'main:a'))
    gitIn(
      real.gitDir,
      ['hash-object', '-t', 'tag', '-w', '--literally', '--stdin'],
      `object ${commit}\ntype commit\ntag old\n\nx\n`,
    )
    const old = gitIn(
      real.gitDir,
      ['hash-object', '-t', 'tag', '--literally', '--stdin'],
      `object ${commit}\ntype commit\ntag old\n\nx\n`,
    )
    real.git('update-ref', 'refs/tags/old', old)
    real.git('pack-refs', '--all', '--prune')
    const packed = real.git('show-ref', '-d').split('\n')
    // More branches than git creates in a second, 6 MB.
    const name = (n: number) => `refs/heads/${'long/'.repeat(20)}${n}`
    const branches = Array.from({ length: 40_000 }, (_, n) => `${commit} ${name(n)}`)
    const lines = [...branches, ...packed.filter((line) => !line.endsWith('^{}'))]
    writeFileSync(
      join(real.gitDir, 'packed-refs'),
      fileOf(lines.toSorted((one, other) => (one.slice(41) < other.slice(41) ? -1 : 1))),
    )
  })
  afterAll(() => fixtures[Symbol.asyncDispose]())

  const keys = {
    name: ['refname'],
    '-name': ['-refname'],
    updated: ['refname', 'creatordate'],
    '-updated': ['refname', '-creatordate'],
    version: ['refname', 'version:refname'],
    '-version': ['refname', '-version:refname'],
  } as const
  const listed = async (prefix: string, order: RefOrder) =>
    (await listRefTips(real.repo, prefix, { order })).map(({ name, oid }) => `${oid} ${name}`)
  const asked = (prefix: string, order: RefOrder) =>
    real
      .git('for-each-ref', '--format=%(objectname) %(refname)', ...keys[order].map((key) => `--sort=${key}`), prefix)
      .split('\n')

  test.each(Object.keys(keys) as RefOrder[])(
    'lists are those of git by %s, before and after a change',
    async (order) => {
      expect(await listed('refs/tags/', order)).toEqual(asked('refs/tags/', order))
      real.git('tag', '-f', `new-${order}`, 'main')
      real.git('update-ref', '-d', `refs/tags/v${order.length}`)
      expect(await listed('refs/tags/', order)).toEqual(asked('refs/tags/', order))
      expect(await listed('refs/heads/', order)).toEqual(asked('refs/heads/', order))
    },
  )

  test('a ref is read, and lists are made, without a git process, once their order is known', async () => {
    const orders = Object.keys(keys) as RefOrder[]
    for (const order of orders) await listed('refs/tags/', order)
    const { runner } = fixtures
    const { start } = runner
    const started: unknown[] = []
    runner.start = (...args) => {
      started.push(args[0])
      return start.apply(runner, args)
    }
    try {
      for (const order of orders) await listed('refs/tags/', order)
      real.git('tag', 'another', 'main')
      for (const order of ['name', '-name', 'updated', '-updated'] as const) await listed('refs/tags/', order)
      expect(readRefFile(real.repo, 'refs/tags/another' as RefName)).toBe(real.git('rev-parse', 'main'))
    } finally {
      runner.start = start
    }
    expect(started).toEqual([])
  })
})
