import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { objectInfo } from './cat-file.ts'
import { readRefFile } from './ref-files.ts'
import type { RefName } from './ref-name.ts'
import { resolve } from './resolve.ts'
import { TestGit, type TestRepository } from './testing.ts'

let fixtures: TestGit
let real: TestRepository

beforeAll(async () => {
  fixtures = await TestGit.start()
})
beforeEach(async () => {
  real = await fixtures.repository()
})
afterAll(() => fixtures[Symbol.asyncDispose]())

/** What git says, with the answer of the files beside it. */
async function bothOf(name: string) {
  const asked = (await objectInfo(await real.repo.objects(), name))?.oid
  return [readRefFile(real.repo, name as RefName), asked]
}

describe('refs read from their files', () => {
  test('are where git says they are: loose, packed, packed and moved on, deleted, packed again', async () => {
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

  test('are left to git where they are no plain ones, and none where there is no repository', async () => {
    real.commit({ a: '1' })
    real.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main')
    expect(readRefFile(real.repo, 'refs/heads/alias' as RefName)).toBe('ask')
    expect(await resolve(real.repo, 'alias')).toBe(real.git('rev-parse', 'main'))
    const nowhere = fixtures.git.open(`${real.gitDir}.none`)
    expect(readRefFile(nowhere, 'refs/heads/main' as RefName)).toBeUndefined()
    expect(await resolve(nowhere, 'main')).toBeUndefined()
  })

  test('a name stands for a commit: tags are followed, and a tag of a file stands for none', async () => {
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
