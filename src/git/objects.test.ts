import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { Git } from './git.ts'
import { type NewTreeEntry, newObject, writeCommit, writeObject, writeObjects, writeTree } from './objects.ts'
import type { Repository } from './repository.ts'
import { Runner } from './runner/client.ts'

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
  test('are the ones git would write, and pass its checks', async () => {
    const blob = await writeObject(repo, 'blob', Buffer.from('hello\n'))
    expect(blob).toBe('ce013625030ba8dba906f756967f9e9ca394464a')
    expect(await writeObject(repo, 'blob', Buffer.from('hello\n'))).toBe(blob)
    const inner = await writeTree(repo, [{ mode: '100755', name: 'run', oid: blob }])
    const entries: NewTreeEntry[] = ['a.b', 'a-b', 'ä', 'z'].map((name) => ({ mode: '100644', name, oid: blob }))
    const tree = await writeTree(repo, [...entries, { mode: '40000', name: 'a', oid: inner }])
    const who = { name: 'Ann <x>', email: 'ann@example.com', at: new Date('2020-01-02T03:04:05Z') }
    const commit = await writeCommit(repo, {
      tree,
      parents: [],
      author: who,
      committer: { ...who, name: '<>' },
      message: 'First\n',
    })
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

  test('are written while housekeeping takes empty folders away', async () => {
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
  })
})
