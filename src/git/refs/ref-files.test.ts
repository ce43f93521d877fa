import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RefName } from '../format/ref-name.ts'
import { objectInfo } from '../objects/cat-file.ts'
import { TestGit, type TestRepository } from '../testing.ts'
import { readRefFile, readRefFiles } from './ref-files.ts'
import { listRefTips, type RefOrder } from './refs.ts'
import { findRevision, resolve } from './resolve.ts'

let fixtures: TestGit
let real: TestRepository

beforeAll(async () => {
  fixtures = await TestGit.start()
})
beforeEach(async () => {
  real = await fixtures.repository()
})
afterAll(() => fixtures[Symbol.asyncDispose]())

/** The result of git, after comparing that of the ref files. */
async function bothOf(name: string) {
  const asked = (await objectInfo(await real.repo.objects(), name))?.oid
  return [readRefFile(real.repo, name as RefName), asked]
}

describe('refs read from files', () => {
  test('refs read from files are those of git: loose, packed, updated, deleted, repacked', async () => {
    const first = real.commit({ a: '1' })
    real.git('branch', 'deep/er/one', first)
    real.git('tag', 'light', first)
    real.git('tag', '-a', 'annotated', '-m', 'x', first)
    const names = [
      'refs/heads/main',
      'refs/heads/deep/er/one',
      'refs/tags/light',
      'refs/tags/annotated',
      'refs/heads/none',
      'refs/heads/deep',
    ]
    const agree = async () => {
      for (const name of names) {
        const [read, asked] = await bothOf(name)
        expect([name, read]).toEqual([name, asked])
      }
    }
    await agree()
    real.git('pack-refs', '--all', '--prune')
    await agree()
    real.commit({ a: '2' })
    await agree()
    real.git('pack-refs', '--all', '--prune')
    await agree()
    real.git('update-ref', '-d', 'refs/heads/deep/er/one')
    real.git('tag', '-d', 'light')
    await agree()
    expect(readRefFile(real.repo, 'refs/heads/deep/er/one' as RefName)).toBeUndefined()
  })

  test('symbolic refs are left to git, and a missing repository has no refs', async () => {
    real.commit({ a: '1' })
    real.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main')
    expect(readRefFile(real.repo, 'refs/heads/alias' as RefName)).toBe('ask')
    expect(await resolve(real.repo, 'alias')).toBe(real.git('rev-parse', 'main'))
    const nowhere = fixtures.git.open(`${real.gitDir}.none`)
    expect(readRefFile(nowhere, 'refs/heads/main' as RefName)).toBeUndefined()
    expect(await resolve(nowhere, 'main')).toBeUndefined()
  })

  test('a name resolves to a commit through tags, and a tag of a file to nothing', async () => {
    const first = real.commit({ a: '1' })
    real.git('tag', '-a', 'v1', '-m', 'x', first)
    real.git('tag', '-a', 'v1-again', '-m', 'x', 'v1')
    real.git('tag', 'file', real.git('rev-parse', 'main:a'))
    expect(await resolve(real.repo, 'v1')).toBe(first)
    expect(await resolve(real.repo, 'v1-again')).toBe(first)
    expect(await resolve(real.repo, 'file')).toBeUndefined()
    // A tag comes before a branch of the same name.
    const second = real.commit({ a: '2' })
    real.git('branch', 'v1', second)
    expect(await resolve(real.repo, 'v1')).toBe(first)
    expect(await resolve(real.repo, 'v1', { prefer: 'branch' })).toBe(second)
  })
})

describe('lists of refs', () => {
  const names = ['main', 'a', 'a/b', 'a/c', 'z', 'B', 'ü', '\ud83d\ude00', '\uffee', 'deep/er/one', 'v1']
  const steps = fc.array(
    fc.oneof(
      fc.record({ do: fc.constant('set'), name: fc.constantFrom(...names), commit: fc.nat(3), tag: fc.boolean() }),
      fc.record({ do: fc.constant('delete'), name: fc.constantFrom(...names), commit: fc.nat(3), tag: fc.boolean() }),
      fc.record({ do: fc.constant('annotate'), name: fc.constantFrom(...names), commit: fc.nat(3), tag: fc.boolean() }),
      fc.constant({ do: 'pack', name: 'main', commit: 0, tag: false }),
    ),
    { maxLength: 8 },
  )
  const orders = {
    name: ['refname'],
    '-name': ['-refname'],
    updated: ['refname', 'creatordate'],
    '-updated': ['refname', '-creatordate'],
  } as const

  test('lists of refs are those of git in any order, loose and packed', async () => {
    const seconds = [1_700_000_010, 1_700_000_005, 1_700_000_005, 1_700_000_020]
    const commits = seconds.map((at, n) => real.commit({ a: String(n) }, { branch: `made-${n}`, seconds: at }))
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        for (const step of all) {
          const ref = `refs/${step.tag ? 'tags' : 'heads'}/${step.name}`
          const attempt = (...args: string[]) => {
            try {
              real.git(...args)
            } catch {
              // `a` and `a/b` cannot both exist.
            }
          }
          if (step.do === 'set') attempt('update-ref', ref, commits[step.commit]!)
          else if (step.do === 'delete') attempt('update-ref', '-d', ref)
          else if (step.do === 'annotate') attempt('tag', '-f', '-a', step.name, '-m', 'x', commits[step.commit]!)
          else real.git('pack-refs', '--all', '--prune')
        }
        for (const prefix of ['refs/heads/', 'refs/tags/'])
          for (const [order, keys] of Object.entries(orders))
            expect([
              order,
              ...(await listRefTips(real.repo, prefix, { order: order as RefOrder })).map(
                ({ name, oid }) => `${name} ${oid}`,
              ),
            ]).toEqual([
              order,
              ...real
                .git('for-each-ref', '--format=%(refname) %(objectname)', ...keys.map((key) => `--sort=${key}`), prefix)
                .split('\n')
                .filter((line) => line !== ''),
            ])
      }),
      { numRuns: 25 },
    )
  })

  test('lists of refs are cached while unchanged, and left to git with a symbolic ref', async () => {
    real.commit({ a: '1' })
    real.git('pack-refs', '--all', '--prune')
    for (const folder of ['refs/heads', 'refs/tags']) utimesSync(`${real.gitDir}/${folder}`, 1, 1)
    const list = await readRefFiles(real.repo, 'refs/heads')
    expect(await readRefFiles(real.repo, 'refs/heads')).toBe(list)
    real.git('branch', 'other', 'main')
    expect(await readRefFiles(real.repo, 'refs/heads')).toHaveLength(2)
    real.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main')
    expect(await readRefFiles(real.repo, 'refs/heads')).toBe('ask')
    expect((await listRefTips(real.repo, 'refs/heads/')).map(({ name }) => name)).toEqual([
      'refs/heads/alias',
      'refs/heads/main',
      'refs/heads/other',
    ])
  })

  test('thousands of tags are listed by time although the object of one is lost', async () => {
    const commit = real.commit({ a: '1' })
    const names = Array.from({ length: 2100 }, (_, n) => `refs/tags/v${String(n).padStart(4, '0')}`)
    const targetOf = (index: number) => (index === 1000 ? 'a'.repeat(40) : commit)
    writeFileSync(
      join(real.gitDir, 'packed-refs'),
      `# pack-refs with: peeled fully-peeled sorted \n${names.map((name, index) => `${targetOf(index)} ${name}\n`).join('')}`,
    )
    const listed = await listRefTips(real.repo, 'refs/tags/', { order: 'updated' })
    expect(listed).toHaveLength(2100)
    expect(listed[0]?.name).toBe(names[1000])
  })
})

test('a branch whose name has the length of another hash is found with its ref', async () => {
  const commit = real.commit({ a: '1' })
  const name = 'a'.repeat(64)
  real.git('branch', name, commit)
  expect(await findRevision(real.repo, name)).toEqual({ oid: commit, ref: `refs/heads/${name}` })
  expect(await findRevision(real.repo, 'b'.repeat(64))).toBeUndefined()
})

test('a name that is too long for a file names no ref', () => {
  expect(readRefFile(real.repo, `refs/heads/${'a'.repeat(300)}` as RefName)).toBeUndefined()
})
