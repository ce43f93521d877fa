import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Oid } from '../format/oid.ts'
import { resolve } from '../refs/resolve.ts'
import { TestGit, type TestRepository } from '../testing.ts'
import { readBlob } from './blobs.ts'
import { objectInfo } from './cat-file.ts'
import { commitsByPrefix } from './prefixes.ts'
import { readLooseObject, readObject } from './read-object.ts'
import { readSignedCommit } from './signed-commit.ts'
import { findEntry, readTreeAt } from './trees.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

const fileOf = ({ repo }: TestRepository, oid: Oid) => join(repo.objectDir, oid.slice(0, 2), oid.slice(2))
const at = (made: TestRepository, name: string) => made.git('rev-parse', name) as Oid

test('objects are the same from files, from packs, and as other types', async () => {
  const made = await world.repository()
  const commit = made.commit({ 'a/b/c.txt': 'deep', 'top.txt': 'high' })
  made.git('tag', '-a', '-m', 'first', 'v1', commit)
  const names = ['HEAD', 'v1', 'HEAD^{tree}', 'HEAD:a/b', 'HEAD:a/b/c.txt'].map((name) => at(made, name))
  const read = () =>
    Promise.all(
      names.flatMap((oid) => [undefined, 'commit', 'tree'].map((as) => readObject(made.repo, oid, 1e6, as as 'tree'))),
    )
  for (const oid of names) expect(await readLooseObject(made.repo, oid), oid).toBeDefined()
  const fromFiles = await read()
  made.git('repack', '-a', '-d')
  for (const oid of names) expect(await readLooseObject(made.repo, oid), oid).toBeUndefined()
  expect(await read()).toEqual(fromFiles)
  expect(fromFiles.map((found) => found?.type)).toEqual(
    [
      ['commit', 'commit', 'tree'],
      ['tag', 'commit', 'tree'],
      ['tree', undefined, 'tree'],
      ['tree', undefined, 'tree'],
      ['blob'],
    ].flatMap((types) => [...types, undefined, undefined].slice(0, 3)),
  )
})

test('paths below a loose commit lead to loose and to packed objects', async () => {
  const made = await world.repository()
  made.commit({ 'a/b/c.txt': 'deep', 'kept/d.txt': 'packed' })
  made.git('repack', '-a', '-d')
  const commit = made.commit({ 'a/b/c.txt': 'deeper', 'kept/d.txt': 'packed' })
  expect((await readTreeAt(made.repo, commit, 'a/b'))?.map(({ name }) => name)).toEqual(['c.txt'])
  expect(await findEntry(made.repo, commit, 'a/b/c.txt')).toMatchObject({ type: 'blob', sizeBytes: 6 })
  expect(await findEntry(made.repo, commit, 'kept/d.txt')).toMatchObject({ type: 'blob', sizeBytes: 6 })
  expect(await findEntry(made.repo, commit, 'a')).toMatchObject({ type: 'tree', sizeBytes: undefined })
  for (const path of ['none', 'a/none', 'a/b/c.txt/none', 'none/c.txt'])
    expect(await findEntry(made.repo, commit, path), path).toBeUndefined()
  for (const path of ['none', 'a/b/c.txt', 'a/b/c.txt/none'])
    expect(await readTreeAt(made.repo, commit, path), path).toBeUndefined()
})

test.for(['loose', 'packed'])(
  'a file whose object was missing is found once it is there, in a %s commit',
  async (how) => {
    const made = await world.repository()
    const commit = made.commit({ 'a/b.txt': 'there' })
    const file = fileOf(made, at(made, 'HEAD:a/b.txt'))
    if (how === 'packed') {
      const others = ['HEAD', 'HEAD^{tree}', 'HEAD:a'].map((name) => at(made, name))
      const pack = join(made.repo.objectDir, 'pack', 'pack')
      execFileSync('git', ['-C', made.gitDir, 'pack-objects', '-q', pack], { input: `${others.join('\n')}\n` })
      for (const oid of others) rmSync(fileOf(made, oid))
    }
    renameSync(file, `${file}.away`)
    expect(await findEntry(made.repo, commit, 'a/b.txt')).toMatchObject({ type: 'blob', sizeBytes: undefined })
    renameSync(`${file}.away`, file)
    expect(await findEntry(made.repo, commit, 'a/b.txt')).toMatchObject({ type: 'blob', sizeBytes: 5 })
  },
)

test('a file to which a tag refers is read once to see that it is no commit', async () => {
  const made = await world.repository()
  made.commit({ 'large.txt': 'x'.repeat(1_000_000) })
  made.git('tag', '-a', '-m', 'of a file', 'v1', 'HEAD:large.txt')
  made.git('repack', '-a', '-d', '-q')
  const [blob, tag] = ['HEAD:large.txt', 'v1'].map((name) => at(made, name)) as [Oid, Oid]
  for (const oid of [blob, tag]) expect(await readObject(made.repo, oid, 1000, 'commit')).toBeUndefined()
  const { pid } = await startedReader(made)
  process.kill(pid, 'SIGSTOP')
  expect(await readObject(made.repo, blob, 1000, 'commit')).toBeUndefined()
  expect(await readObject(made.repo, blob, 1000, 'tree')).toBeUndefined()
  process.kill(pid, 'SIGCONT')
  expect(await readObject(made.repo, blob, 1000)).toMatchObject({ type: 'blob', sizeBytes: 1_000_000 })
})

test('a long chain of tags leads to its commit', async () => {
  const made = await world.repository()
  const commit = made.commit({ a: '1' })
  made.git('tag', '-a', '-m', 'first', 'v0', commit)
  for (let n = 1; n <= 12; n++) made.git('tag', '-a', '-m', 'of a tag', `v${n}`, `v${n - 1}`)
  for (const packs of [false, true]) {
    if (packs) made.git('repack', '-a', '-d', '-q')
    expect((await readObject(made.repo, at(made, 'v12'), 100_000, 'commit'))?.oid).toBe(commit)
    expect((await readObject(made.repo, at(made, 'v12'), 100_000, 'tree'))?.oid).toBe(at(made, 'HEAD^{tree}'))
  }
})

test('a content larger than the limit is left out, and large files are left to git', async () => {
  const made = await world.repository()
  made.commit({ 'small.txt': 'small', 'large.txt': 'x'.repeat(1_000_000) })
  const [small, large] = ['HEAD:small.txt', 'HEAD:large.txt'].map((name) => at(made, name)) as [Oid, Oid]
  expect(await readObject(made.repo, small, 4)).toEqual({ oid: small, type: 'blob', sizeBytes: 5, content: undefined })
  expect(await readLooseObject(made.repo, large)).toBeUndefined()
  expect((await readBlob(made.repo, large))?.sizeBytes).toBe(1_000_000)
})

test('a file is not believed by its name', async () => {
  const made = await world.repository()
  made.commit({ 'a.txt': 'one', 'b.txt': 'two' })
  const [a, b] = ['HEAD:a.txt', 'HEAD:b.txt'].map((name) => at(made, name)) as [Oid, Oid]
  const bomb = deflateSync(Buffer.concat([Buffer.from('blob 90000000\0'), Buffer.alloc(20_000_000)]))
  for (const damage of [
    () => copyFileSync(fileOf(made, b), fileOf(made, a)),
    () => writeFileSync(fileOf(made, a), ''),
    () => writeFileSync(fileOf(made, a), 'nothing compressed'),
    () => writeFileSync(fileOf(made, a), deflateSync('blob 3\0one and more')),
    () => writeFileSync(fileOf(made, a), bomb),
    () => rmSync(fileOf(made, a)),
  ]) {
    rmSync(fileOf(made, a), { force: true })
    writeFileSync(fileOf(made, a), 'x')
    chmodSync(fileOf(made, a), 0o600)
    damage()
    expect(await readLooseObject(made.repo, a)).toBeUndefined()
  }
  expect((await readLooseObject(made.repo, b))?.content.toString()).toBe('two')
})

test('the reader of packed commits, trees and tags does not keep them in memory', async () => {
  const made = await world.repository()
  const tips = Array.from({ length: 16 }, (_, n) => {
    const tip = made.commit({ a: `${n}` }, { message: `${n} ${'x'.repeat(1_000_000)}` })
    made.git('tag', '-a', '-m', 'tagged', `v${n}`)
    return tip
  })
  const tags = tips.map((_, n) => at(made, `refs/tags/v${n}`))
  made.git('repack', '-a', '-d', '-q')
  made.git('pack-refs', '--all')
  const { pid } = await startedReader(made)
  const before = anonymousBytes(pid)
  for (const [n, tip] of tips.entries()) {
    expect((await readObject(made.repo, tip, 8e6, 'commit'))?.oid).toBe(tip)
    expect((await readObject(made.repo, tags[n]!, 8e6, 'commit'))?.oid).toBe(tip)
    expect((await readObject(made.repo, tip, 8e6, 'tree'))?.type).toBe('tree')
    expect((await readSignedCommit(made.repo, tip))?.signatures).toEqual([])
    expect(await resolve(made.repo, tip)).toBe(tip)
    expect(await resolve(made.repo, `v${n}`)).toBe(tip)
    expect(await commitsByPrefix(made.repo, [tip.slice(0, 12)])).toEqual([tip])
  }
  expect((await made.repo.objects()).pid).toBe(pid)
  expect(anonymousBytes(pid) - before).toBeLessThan(8e6)
})

async function startedReader({ repo }: TestRepository): Promise<{ pid: number }> {
  const reader = await repo.objects()
  await objectInfo(reader, 'HEAD')
  return { pid: reader.pid! }
}

/** What the process has in memory without the files that it maps. */
const anonymousBytes = (pid: number) =>
  Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
