import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Oid } from '../format/oid.ts'
import type { RefName } from '../format/ref-name.ts'
import { removeStaleLocks } from '../repository/stale-locks.ts'
import { TestGit, type TestRepository } from '../testing.ts'
import { packRefs } from '../transfer/maintenance.ts'
import { listRefs, listRefTips, readRef, readRefs } from './refs.ts'
import { updateRefs } from './update-refs.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

const main = 'refs/heads/main' as RefName
const ref = (name: string) => `refs/heads/${name}` as RefName
const locksIn = ({ gitDir }: TestRepository) =>
  readdirSync(join(gitDir, 'refs/heads'))
    .filter((name) => name.endsWith('.lock'))
    .toSorted()
const commits = (made: TestRepository, count: number) =>
  Array.from({ length: count }, (_, n) => made.commit({ a: String(n) }, { branch: 'history' }))

/** A lock of a moment ago, however slow the machine is. */
async function writeLock(path: string): Promise<void> {
  await writeFile(path, '')
  const inAnHour = Date.now() / 1000 + 3600
  await utimes(path, inAnHour, inAnHour)
}

describe('updateRefs', () => {
  test('updateRefs creates, updates and deletes refs', async () => {
    const made = await world.repository()
    const [one, two] = commits(made, 2) as [Oid, Oid]
    expect(await updateRefs(made.repo, [{ name: main, to: one, from: 'absent' }])).toBe('moved')
    expect(await updateRefs(made.repo, [{ name: main, to: two, from: one }])).toBe('moved')
    expect(await readRef(made.repo, main)).toBe(two)
    expect(await updateRefs(made.repo, [{ name: main, to: one }])).toBe('moved')
    expect(await updateRefs(made.repo, [{ name: main, to: null, from: one }])).toBe('moved')
    expect(await readRef(made.repo, main)).toBeUndefined()
    expect(await updateRefs(made.repo, [])).toBe('moved')
  })

  test('updateRefs changes nothing when one ref is stale', async () => {
    const made = await world.repository()
    const [one, two] = commits(made, 2) as [Oid, Oid]
    await updateRefs(made.repo, [{ name: main, to: one }])
    for (const bad of [
      { name: main, to: two, from: two },
      { name: main, to: two, from: 'absent' },
      { name: main, to: null, from: two },
      { name: ref('gone'), to: two, from: one },
    ] as const) {
      expect(await updateRefs(made.repo, [{ name: ref('other'), to: one, from: 'absent' }, bad])).toBe('stale')
    }
    expect(await readRefs(made.repo, [main, ref('other'), ref('gone')])).toEqual([one, undefined, undefined])
  })

  test.for([1, 9])('updateRefs deletes branches whose commits are lost: %d', async (count) => {
    const made = await world.repository()
    const [kept, lost] = commits(made, 2) as [Oid, Oid]
    const names = Array.from({ length: count }, (_, n) => ref(`lost-${n}`))
    await updateRefs(made.repo, [...names.map((name) => ({ name, to: lost })), { name: main, to: kept }])
    await updateRefs(made.repo, [{ name: ref('history'), to: null }])
    await rm(join(made.repo.objectDir, lost.slice(0, 2), lost.slice(2)))
    expect(await readRefs(made.repo, names)).toEqual(names.map(() => lost))
    const deletions = names.map((name) => ({ name, to: null, from: lost }))
    expect(await updateRefs(made.repo, deletions)).toBe('moved')
    expect(await readRefs(made.repo, [...names, main])).toEqual([...names.map(() => undefined), kept])
  })

  test('updateRefs reports a partial change when git is killed between two refs', async () => {
    const made = await world.repository()
    const [one] = commits(made, 1) as [Oid]
    // Git blocks on the second ref, because nothing reads its reflog.
    mkdirSync(join(made.gitDir, 'logs/refs/heads'), { recursive: true })
    execFileSync('mkfifo', [join(made.gitDir, 'logs/refs/heads/b')])
    const updates = ['a', 'b', 'c'].map((name) => ({ name: ref(name), to: one, from: 'absent' as const }))
    const outcome = updateRefs(made.repo, updates).catch((error: unknown) => error)
    await expect.poll(() => readRef(made.repo, ref('a'))).toBe(one)
    const helper = await made.repo.helper('update-ref', 'update-ref', { flags: ['--no-deref', '-z', '--stdin'] })
    process.kill(helper.pid!, 'SIGKILL')
    expect(await outcome).toMatchObject({ kind: 'unavailable', message: 'Only some of the references were changed' })
    expect(await readRefs(made.repo, [ref('a'), ref('b'), ref('c')])).toEqual([one, undefined, undefined])
  })

  test('refs can be changed again seconds after git was killed with their locks', async () => {
    const made = await world.repository()
    const [one, two] = commits(made, 2) as [Oid, Oid]
    mkdirSync(join(made.gitDir, 'logs/refs/heads'), { recursive: true })
    execFileSync('mkfifo', [join(made.gitDir, 'logs/refs/heads/b')])
    // The lock of another process on a ref that the transaction does not move.
    await writeFile(join(made.gitDir, 'refs/heads/other.lock'), `${one}\n`)
    const updates = ['a', 'b', 'c'].map((name) => ({ name: ref(name), to: one, from: 'absent' as const }))
    const outcome = updateRefs(made.repo, updates).catch((error: unknown) => error)
    await expect.poll(() => readRef(made.repo, ref('a'))).toBe(one)
    const helper = await made.repo.helper('update-ref', 'update-ref', { flags: ['--no-deref', '-z', '--stdin'] })
    process.kill(helper.pid!, 'SIGKILL')
    await outcome
    await rm(join(made.gitDir, 'logs'), { recursive: true })
    expect(locksIn(made)).toEqual(['b.lock', 'c.lock', 'other.lock'])
    await expect.poll(() => locksIn(made)).toEqual(['other.lock'])
    expect(await updateRefs(made.repo, [{ name: ref('c'), to: two, from: 'absent' }])).toBe('moved')
  })

  test('packed refs can be deleted again seconds after git was killed while it deleted one', async () => {
    const made = await world.repository()
    const [one] = commits(made, 1) as [Oid]
    for (const name of ['a', 'b']) made.git('update-ref', ref(name), one)
    made.git('pack-refs', '--all')
    mkdirSync(join(made.gitDir, 'logs/refs/heads'), { recursive: true })
    execFileSync('mkfifo', [join(made.gitDir, 'logs/refs/heads/new')])
    const outcome = updateRefs(made.repo, [
      { name: ref('a'), to: null, from: one },
      { name: ref('new'), to: one, from: 'absent' },
    ]).catch((error: unknown) => error)
    const left = () => readdirSync(made.gitDir).filter((name) => /^packed-refs\./.test(name))
    await expect.poll(left).toEqual(['packed-refs.lock', 'packed-refs.new'])
    const helper = await made.repo.helper('update-ref', 'update-ref', { flags: ['--no-deref', '-z', '--stdin'] })
    process.kill(helper.pid!, 'SIGKILL')
    await outcome
    await rm(join(made.gitDir, 'logs'), { recursive: true })
    expect(left()).toEqual(['packed-refs.lock', 'packed-refs.new'])
    await expect.poll(left).toEqual([])
    await expect.poll(() => locksIn(made)).toEqual([])
    expect(await updateRefs(made.repo, [{ name: ref('b'), to: null, from: one }])).toBe('moved')
  })

  test('packed refs can be deleted again seconds after git was killed while it packed refs', async () => {
    const made = await world.repository()
    const [one] = commits(made, 1) as [Oid]
    made.git('update-ref', ref('a'), one)
    made.git('pack-refs', '--all')
    // Git blocks on this ref, because nothing writes it.
    execFileSync('mkfifo', [join(made.gitDir, 'refs/heads/endless')])
    const outcome = packRefs(made.repo).catch((error: unknown) => error)
    const lock = join(made.gitDir, 'packed-refs.lock')
    await expect.poll(() => existsSync(lock)).toBe(true)
    const running = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n')
    const [packing] = running.filter((line) => line.includes(`--git-dir=${made.gitDir} pack-refs`))
    process.kill(Number.parseInt(packing!, 10), 'SIGKILL')
    expect(await outcome).toMatchObject({ signal: 'SIGKILL' })
    await rm(join(made.gitDir, 'refs/heads/endless'))
    expect(existsSync(lock)).toBe(true)
    await expect.poll(() => existsSync(lock)).toBe(false)
    expect(await updateRefs(made.repo, [{ name: ref('a'), to: null, from: one }])).toBe('moved')
  })

  test('packed refs can be deleted when the git that packed them was killed with the whole service, not while it runs', async () => {
    const made = await world.repository()
    const [one] = commits(made, 1) as [Oid]
    made.git('update-ref', ref('a'), one)
    made.git('pack-refs', '--all')
    execFileSync('mkfifo', [join(made.gitDir, 'refs/heads/endless')])
    // It is no child of the runner, like one that has outlived an earlier runner.
    const packing = spawn('git', [`--git-dir=${made.gitDir}`, 'pack-refs', '--all'], { stdio: 'ignore' })
    const lock = join(made.gitDir, 'packed-refs.lock')
    await expect.poll(() => existsSync(lock)).toBe(true)
    const before = Date.now() / 1000 - 10
    for (const path of [lock, `${lock.slice(0, -5)}.new`]) if (existsSync(path)) await utimes(path, before, before)
    const deletion = { name: ref('a'), to: null, from: one }
    await expect(updateRefs(made.repo, [deletion])).rejects.toMatchObject({ kind: 'unavailable' })
    packing.kill('SIGKILL')
    await once(packing, 'exit')
    await rm(join(made.gitDir, 'refs/heads/endless'))
    expect(await updateRefs(made.repo, [deletion])).toBe('moved')
    expect(readdirSync(made.gitDir).filter((name) => name.endsWith('.lock'))).toEqual([])
  })

  test('packed refs can be deleted and packed although a killed git has left an unfinished list of them', async () => {
    const made = await world.repository()
    const [one] = commits(made, 1) as [Oid]
    for (const name of ['a', 'b']) made.git('update-ref', ref(name), one)
    made.git('pack-refs', '--all')
    const unfinished = join(made.gitDir, 'packed-refs.new')
    await writeFile(unfinished, '# pack-refs with:')
    expect(await updateRefs(made.repo, [{ name: ref('a'), to: null, from: one }])).toBe('moved')
    await writeFile(unfinished, '# pack-refs with:')
    made.git('update-ref', ref('c'), one)
    await packRefs(made.repo)
    expect(made.git('for-each-ref', '--format=%(refname)', 'refs/heads')).toBe(
      'refs/heads/b\nrefs/heads/c\nrefs/heads/history',
    )
    // Another process may be writing it.
    await writeFile(unfinished, '# pack-refs with:')
    await writeLock(join(made.gitDir, 'packed-refs.lock'))
    expect(await removeStaleLocks(made.repo, { olderThanMs: 60_000 })).toBe(0)
    expect(existsSync(unfinished)).toBe(true)
  })

  test('exactly one of 32 concurrent updates of a ref succeeds', async () => {
    const made = await world.repository()
    const [start, ...next] = commits(made, 33) as [Oid, ...Oid[]]
    let now = start
    await updateRefs(made.repo, [{ name: main, to: start }])
    for (let round = 0; round < 4; round++) {
      const from = now
      const targets = next.filter((oid) => oid !== from)
      const results = await Promise.all(targets.map((to) => updateRefs(made.repo, [{ name: main, to, from }])))
      const winners = targets.filter((_, index) => results[index] === 'moved')
      expect(results.filter((result) => result === 'stale')).toHaveLength(targets.length - 1)
      expect(winners).toEqual([await readRef(made.repo, main)])
      now = winners[0]!
    }
  })

  test('an update is done or not done when its process is killed', async () => {
    const made = await world.repository()
    const all = commits(made, 30)
    await updateRefs(made.repo, [{ name: main, to: all[0]! }])
    const helper = await made.repo.helper('update-ref', 'update-ref', { flags: ['--no-deref', '-z', '--stdin'] })
    for (let n = 1; n < all.length; n++) {
      const moving = updateRefs(made.repo, [{ name: main, to: all[n]!, from: all[n - 1]! }])
      await new Promise((resolve) => setTimeout(resolve, n % 3))
      try {
        if (helper.pid) process.kill(helper.pid, 'SIGTERM')
      } catch {
        // The process killed in the last round may still be ending.
      }
      // Git may die between creating a lock and noting that it must remove it; a start removes such locks.
      await moving.catch(async (error) => {
        expect(error).toMatchObject({ kind: 'unavailable' })
        expect(await removeStaleLocks(made.repo, { olderThanMs: 0 })).toBe(1)
        await updateRefs(made.repo, [{ name: main, to: all[n]!, from: all[n - 1]! }])
      })
      expect(await readRef(made.repo, main)).toBe(all[n])
    }
  })

  test('updateRefs sees changes of refs and objects by other processes at once', async () => {
    const made = await world.repository()
    const [one, two] = commits(made, 2) as [Oid, Oid]
    await updateRefs(made.repo, [{ name: main, to: one }])
    made.git('pack-refs', '--all')
    expect(await updateRefs(made.repo, [{ name: main, to: two, from: one }])).toBe('moved')
    made.git('update-ref', main, one)
    made.git('pack-refs', '--all')
    expect(await updateRefs(made.repo, [{ name: main, to: two, from: two }])).toBe('stale')
    expect(await updateRefs(made.repo, [{ name: main, to: null, from: one }])).toBe('moved')
    const three = made.commit({ a: 'three' }, { branch: 'history' })
    made.git('repack', '-adq')
    expect(await updateRefs(made.repo, [{ name: ref('main/sub'), to: three, from: 'absent' }])).toBe('moved')
    made.git('update-ref', '-d', ref('main/sub'))
    expect(await updateRefs(made.repo, [{ name: main, to: three, from: 'absent' }])).toBe('moved')
  })

  test('updateRefs reports a conflict when a name collides with another', async () => {
    const made = await world.repository()
    const [one] = commits(made, 1) as [Oid]
    await updateRefs(made.repo, [{ name: ref('a/b'), to: one }])
    for (const name of ['a', 'a/b/c'])
      await expect(updateRefs(made.repo, [{ name: ref(name), to: one, from: 'absent' }])).rejects.toMatchObject({
        kind: 'conflict',
      })
    expect((await listRefs(made.repo, 'refs/heads/a')).map((it) => it.name)).toEqual([ref('a/b')])
  })

  test('updateRefs fails with unprocessable when the object or repository is missing', async () => {
    const made = await world.repository()
    const nothing = 'd'.repeat(40) as Oid
    await expect(updateRefs(made.repo, [{ name: main, to: nothing }])).rejects.toMatchObject({ kind: 'unprocessable' })
    await expect(
      updateRefs(world.git.open(join(world.folder, 'none.git')), [{ name: main, to: nothing }]),
    ).rejects.toMatchObject({ kind: 'unprocessable' })
  })

  test('updateRefs waits for a lock that is released', async () => {
    const made = await world.repository()
    const [one] = commits(made, 1) as [Oid]
    const lock = join(made.gitDir, 'refs/heads/main.lock')
    await writeFile(lock, '')
    setTimeout(() => void rm(lock), 300)
    expect(await updateRefs(made.repo, [{ name: main, to: one, from: 'absent' }])).toBe('moved')
  })

  test('updateRefs fails on a lock that stays, and stale locks can be removed', async () => {
    const made = await world.repository()
    const [one] = commits(made, 1) as [Oid]
    const update = { name: main, to: one, from: 'absent' } as const
    const lock = join(made.gitDir, 'refs/heads/main.lock')
    await writeLock(lock)
    await expect(updateRefs(made.repo, [update])).rejects.toMatchObject({ kind: 'unavailable' })
    const hourAgo = Date.now() / 1000 - 3600
    await utimes(lock, hourAgo, hourAgo)
    expect(await updateRefs(made.repo, [update])).toBe('moved')

    await writeLock(join(made.gitDir, 'packed-refs.lock'))
    expect(await removeStaleLocks(made.repo, { olderThanMs: 60_000 })).toBe(0)
    expect(await removeStaleLocks(made.repo, { olderThanMs: 0 })).toBe(1)
  })
})

test('refs are listed in the requested order, packed or not', async () => {
  const made = await world.repository()
  const [one, two] = commits(made, 2) as [Oid, Oid]
  for (const [name, oid] of [
    ['v1.10', two],
    ['v1.9', one],
    ['v1.2', two],
  ] as const)
    made.git('tag', name, oid)
  made.git('pack-refs', '--all')
  const names = async (filters: object) =>
    (await listRefTips(made.repo, 'refs/tags/', filters)).map((it) => it.name.slice(10))
  expect(await names({})).toEqual(['v1.10', 'v1.2', 'v1.9'])
  expect(await names({ order: '-name', limit: 2 })).toEqual(['v1.9', 'v1.2'])
  expect(await names({ order: 'version' })).toEqual(['v1.2', 'v1.9', 'v1.10'])
  expect(await names({ order: '-updated' })).toEqual(['v1.10', 'v1.2', 'v1.9'])
  expect(await names({ mergedInto: one })).toEqual(['v1.9'])
  for (const list of [listRefs, listRefTips]) await expect(list(made.repo, '--shell')).rejects.toThrow()
})

test('a reader sees changes of refs by real git', async () => {
  const made = await world.repository()
  const [one, two] = commits(made, 2) as [Oid, Oid]
  for (const change of [
    ['update-ref', main, one],
    ['pack-refs', '--all'],
    ['update-ref', main, two],
    ['gc', '-q'],
    ['update-ref', '-d', main],
  ]) {
    made.git(...change)
    const expected = made.git('for-each-ref', '--format=%(objectname)', main)
    expect(await readRef(made.repo, main)).toBe(expected === '' ? undefined : expected)
  }
})
