import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { Git } from '../git.ts'
import type { Repository } from '../repository/repository.ts'
import { Runner } from '../runner/client.ts'
import { commitObject, newObject, treeObject, writeObjects } from './objects.ts'
import { storeObjects } from './pack.ts'
import { prepareCommit } from './prepare-commit.ts'
import { TreeEdit } from './tree-edit.ts'

let folder: string
let git: Git
let runner: Runner
let repo: Repository

const realGit = (...args: string[]) =>
  execFileSync('git', ['--git-dir', repo.gitDir, ...args], { encoding: 'utf8' }).trim()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stithy-objects-'))
  runner = await Runner.connect(inject('runnerSocket'))
  git = new Git(runner)
  await git.ensureRepository(join(folder, 'r.git'), { defaultBranch: 'main' })
  repo = git.open(join(folder, 'r.git'))
})
afterAll(async () => {
  await git[Symbol.asyncDispose]()
  await runner[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

describe('objects written without git', () => {
  test('objects are written as by git and pass its checks', async () => {
    const blob = newObject('blob', Buffer.from('hello\n'))
    expect(blob.oid).toBe('ce013625030ba8dba906f756967f9e9ca394464a')
    const edit = await TreeEdit.of(repo, undefined)
    for (const path of ['a.b', 'a-b', 'ä', 'z']) await edit.put(path, { mode: '100644', oid: blob.oid })
    await edit.put('a/run', { mode: '100755', oid: blob.oid })
    const { tree, objects } = await edit.finish()
    const who = { name: 'Ann <x>', email: 'ann@example.com', at: new Date('2020-01-02T03:04:05Z') }
    const newCommit = { tree, parents: [], author: who, committer: { ...who, name: '<>' }, message: 'First\n' }
    const prepared = prepareCommit(repo, newCommit, [blob, ...objects], edit)
    await prepared.store()
    // An existing object is replaced by itself.
    await prepared.store()
    const commit = prepared.commit.oid
    expect(realGit('fsck', '--strict', commit)).toBe('')
    expect(realGit('-c', 'core.quotePath=false', 'ls-tree', '--name-only', commit).split('\n')).toEqual([
      'a-b',
      'a.b',
      'a',
      'z',
      'ä',
    ])
    expect(realGit('log', '-1', '--format=%an|%ae|%at|%cn|%s', commit)).toBe(
      'Ann x|ann@example.com|1577934245|Unknown|First',
    )
  })

  test('many objects of any type and size are written as one pack', async () => {
    const sizes = [0, 1, 15, 16, 2047, 2048, 300_000, ...Array.from({ length: 120 }, (_, n) => 20 + n)]
    const blobs = sizes.map((size, n) => newObject('blob', Buffer.alloc(size, `${n} `)))
    const tree = treeObject(
      blobs.map(({ oid }, n) => ({ mode: '100644', name: `f${String(n).padStart(3, '0')}`, oid })),
    )
    const who = { name: 'Ann', email: 'ann@example.com', at: new Date() }
    const commit = commitObject({ tree: tree.oid, parents: [], author: who, committer: who, message: 'Many\n' })
    // An object that is named twice is in the pack once.
    await storeObjects(repo, [...blobs, blobs[0]!, tree, commit])
    expect(realGit('fsck', '--strict', '--no-dangling', commit.oid)).toBe('')
    expect(
      realGit('ls-tree', '-l', commit.oid)
        .split('\n')
        .map((line) => Number(line.split(/\s+/)[3])),
    ).toEqual(sizes)
    expect(Number(/in-pack: (\d+)/.exec(realGit('count-objects', '-v'))![1])).toBe(
      new Set(blobs.map(({ oid }) => oid)).size + 2,
    )
  })

  test('objects are written while housekeeping removes empty folders', async () => {
    let busy = true
    const housekeeping = (async () => {
      while (busy) {
        const folders = (await readdir(repo.objectDir)).filter((name) => /^[0-9a-f]{2}$/.test(name))
        await Promise.all(folders.map((name) => rmdir(join(repo.objectDir, name)).catch(() => {})))
        await delay(2)
      }
    })()
    for (let round = 0; round < 200; round++) {
      const object = newObject('blob', Buffer.from(`round ${round}`))
      await writeObjects(repo, [object])
      await rm(join(repo.objectDir, object.oid.slice(0, 2), object.oid.slice(2)))
    }
    busy = false
    await housekeeping
    expect((await readdir(repo.objectDir)).filter((name) => name.startsWith('tmp_'))).toEqual([])
  })
})
