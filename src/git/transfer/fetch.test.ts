import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Oid } from '../format/oid.ts'
import { TestGit } from '../testing.ts'
import { fetchCommit } from './fetch.ts'
import { streamPack } from './stream-pack.ts'

let testGit: TestGit

beforeAll(async () => {
  testGit = await TestGit.start()
})
afterAll(() => testGit[Symbol.asyncDispose]())

describe('fetching a commit from another repository', () => {
  test('fetchCommit copies a commit with the objects it needs and no others', async () => {
    const [target, source] = [await testGit.repository(), await testGit.repository()]
    const large = Array.from({ length: 5000 }, (_, n) => `line ${n}\n`).join('')
    target.commit({ 'large.txt': large, 'dir/a.txt': 'a' })
    source.git('fetch', '-q', target.gitDir, 'main:main')
    const wanted = source.commit({ 'large.txt': `${large}more\n` })
    source.commit({ 'not-wanted.txt': 'x' })
    const before = target.git('count-objects', '-v')

    await fetchCommit(target.repo, source.repo, wanted)

    expect(target.git('cat-file', '-p', `${wanted}:large.txt`)).toBe(`${large}more`)
    expect(target.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main')
    target.git('update-ref', 'refs/heads/theirs', wanted)
    expect(target.git('fsck', '--strict')).toBe('')
    const after = target.git('count-objects', '-v')
    expect(after).not.toBe(before)
    await fetchCommit(target.repo, source.repo, wanted)
    expect(target.git('count-objects', '-v')).toBe(after)
  })

  test('fetchCommit copies a commit although another branch of the target has lost its own', async () => {
    const [target, source] = [await testGit.repository(), await testGit.repository()]
    target.commit({ 'a.txt': 'a' })
    const lost = target.commit({ 'a.txt': 'b' }, { branch: 'lost' })
    await rm(`${target.repo.objectDir}/${lost.slice(0, 2)}/${lost.slice(2)}`)
    const wanted = source.commit({ 'c.txt': 'c' })
    await fetchCommit(target.repo, source.repo, wanted)
    expect(target.git('cat-file', '-p', `${wanted}:c.txt`)).toBe('c')
  })

  test('fetchCommit copies what a commit needs although the commit itself is there, as after an interruption', async () => {
    const [target, source] = [await testGit.repository(), await testGit.repository()]
    target.commit({ 'other.txt': 'x' })
    const wanted = source.commit({ 'a.txt': 'a' })
    const file = (gitDir: string) => `${gitDir}/objects/${wanted.slice(0, 2)}/${wanted.slice(2)}`
    mkdirSync(dirname(file(target.gitDir)), { recursive: true })
    copyFileSync(file(source.gitDir), file(target.gitDir))
    await fetchCommit(target.repo, source.repo, wanted)
    expect(target.git('cat-file', '-p', `${wanted}:a.txt`)).toBe('a')
  })

  test('fetchCommit copies nothing that a branch or a hidden ref of the target reaches', async () => {
    const [target, source] = [await testGit.repository(), await testGit.repository()]
    const [first, second] = [source.commit({ 'a.txt': 'a' }), source.commit({ 'a.txt': 'b' })]
    for (const ref of ['refs/heads/main', 'refs/merge-requests/1/head']) {
      target.git('fetch', '-q', source.gitDir, `+${second}:${ref}`)
      const before = target.git('count-objects', '-v')
      for (const wanted of [first, second]) await fetchCommit(target.repo, source.repo, wanted)
      expect(target.git('count-objects', '-v')).toBe(before)
      target.git('update-ref', '-d', ref)
    }
  })

  test('fetchCommit works for an empty target and an unrelated source', async () => {
    const [target, source, other] = [await testGit.repository(), await testGit.repository(), await testGit.repository()]
    other.commit({ 'other.txt': 'x' })
    const wanted = source.commit({ 'a.txt': 'a' })
    for (const { repo, git } of [target, other].map((it) => ({ repo: it.repo, git: it.git.bind(it) }))) {
      await fetchCommit(repo, source.repo, wanted)
      expect(git('cat-file', '-p', `${wanted}:a.txt`)).toBe('a')
    }
  })

  test('a pack for a repository that was removed meanwhile is unprocessable, and brings nothing of it back', async () => {
    const [target, source] = [await testGit.repository(), await testGit.repository()]
    const wanted = source.commit({ 'a.txt': 'a' })
    expect(await target.repo.exists()).toBe(true)
    // Another process removes it: this one still believes that it exists.
    await rm(target.gitDir, { recursive: true })
    const work = streamPack(source.repo, target.repo, { revisions: `${wanted}\n`, timeoutMs: 60_000 })
    await expect(work).rejects.toMatchObject({ kind: 'unprocessable' })
    expect(existsSync(target.gitDir)).toBe(false)
  })

  test('fetchCommit of a missing commit fails and copies nothing', async () => {
    const [target, source] = [await testGit.repository(), await testGit.repository()]
    source.commit({ 'a.txt': 'a' })
    await expect(fetchCommit(target.repo, source.repo, 'f'.repeat(40) as Oid)).rejects.toThrow()
    expect(target.git('count-objects')).toMatch(/^0 objects/)
  })
})
