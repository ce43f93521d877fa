import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { withEnoughTime } from '../../../test/waiting.ts'
import type { Oid } from '../format/oid.ts'
import { readBlob } from '../objects/blobs.ts'
import { objectContent, objectInfo } from '../objects/cat-file.ts'
import { readCommit } from '../objects/commits.ts'
import { resolve } from '../refs/resolve.ts'
import { gitIn, TestGit } from '../testing.ts'
import { archiveStream } from '../transfer/archive.ts'
import { fsck, packRefs, prune, repack, repositorySize, writeCommitGraph } from '../transfer/maintenance.ts'
import { Inbox } from './inbox.ts'
import { startRunner } from './start.ts'
import { defaultTimeouts } from './timeouts.ts'

const gitsBelow = (pid: number) => {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid=,stat='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((row) => row.trim().split(/\s+/))
  return rows
    .filter(([, parent, stat]) => Number(parent) === pid && !stat!.startsWith('Z'))
    .map(([child]) => Number(child))
}

test('a killed object reader is restarted and its requests are repeated', async () => {
  await using world = await TestGit.start()
  const made = await world.repository()
  const tip = made.commit({ a: 'x' })
  const helper = await made.repo.objects()
  await objectInfo(helper, 'HEAD')
  for (let round = 0; round < 5; round++) {
    const asked = Array.from({ length: 200 }, () => objectContent(helper, 'HEAD', 1000))
    await Promise.race(asked)
    process.kill(helper.pid!, 'SIGKILL')
    expect(
      (await Promise.all(asked)).every((answer) => answer?.oid === tip && answer.content!.includes('Change')),
    ).toBe(true)
  }
})

test('an object that kills its reader fails, and the requests behind it succeed', async () => {
  await using world = await TestGit.start()
  const made = await world.repository()
  const commit = made.commit({ a: 'x' })
  const bad = gitIn(
    made.gitDir,
    ['hash-object', '-w', '--stdin'],
    Buffer.from(Array.from({ length: 3000 }, (_, n) => (n * n * 7) % 253)),
  ) as Oid
  execFileSync('sh', [
    '-c',
    `f=${made.gitDir}/objects/${bad.slice(0, 2)}/${bad.slice(2)}; chmod +w $f; head -c 300 $f > $f.x; mv $f.x $f`,
  ])
  const helper = await made.repo.objects()
  const [broken, good] = await Promise.allSettled([objectContent(helper, bad, 10_000), objectInfo(helper, commit)])
  expect(broken).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable' } })
  expect(good).toMatchObject({ status: 'fulfilled', value: { oid: commit } })
  expect(await resolve(made.repo, 'main')).toBe(commit)
})

test('an object reader that stops responding is replaced', () =>
  withEnoughTime([200, 2_000, 20_000], async (answerMs) => {
    await using world = await TestGit.start({ timeouts: () => ({ ...defaultTimeouts, answerMs }) })
    const made = await world.repository()
    const tip = made.commit({ a: 'x' })
    const helper = await made.repo.objects()
    await objectInfo(helper, 'HEAD')
    const first = helper.pid!
    process.kill(first, 'SIGSTOP')
    expect(await resolve(made.repo, 'main')).toBe(tip)
    expect(helper.pid).not.toBe(first)
  }))

test('requests that wait when the runner is killed are answered after its restart', async () => {
  await using world = await TestGit.start()
  const made = await world.repository()
  const tip = made.commit({ a: 'x' })
  const helper = await made.repo.objects()
  await objectInfo(helper, 'HEAD')
  process.kill(helper.pid!, 'SIGSTOP')
  const waiting = resolve(made.repo, 'main')
  process.kill(world.process.pid, 'SIGKILL')
  await world.process.ended
  const later = resolve(made.repo, 'main')
  await using _next = await startRunner({ socketPath: world.process.socketPath })
  expect([await waiting, await later]).toEqual([tip, tip])
})

test('a command or archive that reads is repeated after the restart of a killed runner, and one that writes is not', async () => {
  await using world = await TestGit.start()
  const made = await world.repository()
  const tip = made.commit({ a: 'x' })
  const object = join(made.gitDir, 'objects', tip.slice(0, 2), tip.slice(2))
  const content = await readFile(object)
  // Git waits for the content of a pipe.
  await rm(object)
  execFileSync('mkfifo', [object])
  const reading = made.repo.run('rev-list', { args: [tip] })
  const writing = made.repo.run('commit-graph write', { flags: ['--reachable'] })
  writing.catch(() => {})
  const archive = archiveStream(made.repo, tip, { format: 'tar', prefix: '' })
  await expect.poll(() => gitsBelow(world.process.pid)).toHaveLength(3)
  process.kill(world.process.pid, 'SIGKILL')
  await world.process.ended
  await rm(object)
  await writeFile(object, content)
  await using _next = await startRunner({ socketPath: world.process.socketPath })
  expect((await reading).stdout.toString()).toBe(`${tip}\n`)
  expect(await buffer(await archive)).toHaveLength(10240)
  await expect(writing).rejects.toThrow('The git runner is not available')
})

test('helpers are limited in number, end when idle and are gone after dispose', async () => {
  const world = await TestGit.start({ maxHelpers: 3, helperIdleMs: 300 })
  const pid = world.process.pid
  for (let n = 0; n < 8; n++) {
    const made = await world.repository()
    made.commit({ a: 'x' })
    expect(await resolve(made.repo, 'main')).toBeDefined()
    expect(world.git.helpers.size).toBeLessThanOrEqual(3)
  }
  await expect.poll(() => gitsBelow(pid).length).toBeLessThanOrEqual(3)
  await expect.poll(() => gitsBelow(pid)).toEqual([])
  await resolve((await world.repository()).repo, 'HEAD')
  expect(gitsBelow(pid)).toHaveLength(1)
  await world.git[Symbol.asyncDispose]()
  expect(gitsBelow(pid)).toEqual([])
  await world[Symbol.asyncDispose]()
})

test('a helper in constant use is replaced, so that packs which maintenance has deleted occupy no disk space', async () => {
  await using world = await TestGit.start({ helperMaxAgeMs: 1_000 })
  const made = await world.repository()
  const first = made.commit({ a: 'x' })
  made.git('repack', '-a', '-d', '-q')
  const held = await made.repo.objects()
  expect((await objectContent(held, first, 1000))?.oid).toBe(first)
  made.commit({ b: 'y' })
  await repack(made.repo, 'full')
  expect(deletedFilesOf(gitsBelow(world.process.pid))).not.toEqual([])
  await expect
    .poll(async () => {
      await objectInfo(await made.repo.objects(), first)
      return deletedFilesOf(gitsBelow(world.process.pid))
    })
    .toEqual([])
  // A caller that got it before may still ask.
  expect((await objectContent(held, first, 1000))?.oid).toBe(first)
  expect(await made.repo.objects()).not.toBe(held)
})

/** Deleted files that the processes have mapped into memory. */
const deletedFilesOf = (pids: readonly number[]) =>
  pids.flatMap((pid) => {
    try {
      return readFileSync(`/proc/${pid}/maps`, 'utf8')
        .split('\n')
        .filter((line) => line.endsWith('.pack (deleted)') || line.endsWith('.idx (deleted)'))
    } catch {
      return []
    }
  })

test('concurrent creations make a repository once, and removal clears its cache', async () => {
  await using world = await TestGit.start()
  const gitDir = join(world.folder, 'deep/er/x.git')
  const repo = world.git.open(gitDir)
  expect(await resolve(repo, 'main')).toBeUndefined()
  const made = await Promise.all(
    Array.from({ length: 20 }, () => world.git.ensureRepository(gitDir, { defaultBranch: 'trunk' })),
  )
  expect(made.filter(Boolean)).toHaveLength(1)
  expect(await readdir(join(world.folder, 'deep/er'))).toEqual(['x.git'])
  expect(gitIn(gitDir, ['fsck', '--strict'])).toBe('')
  expect(gitIn(gitDir, ['rev-parse', '--is-bare-repository'])).toBe('true')
  const blob = gitIn(gitDir, ['hash-object', '-w', '--stdin'], 'x') as Oid
  expect(await readBlob(repo, blob)).toBeDefined()
  await expect(world.git.ensureRepository(`${gitDir}2`, { defaultBranch: '-x' })).rejects.toMatchObject({
    kind: 'invalid',
  })

  await Promise.all([world.git.removeRepository(gitDir), world.git.removeRepository(gitDir)])
  expect(await readdir(join(world.folder, 'deep/er'))).toEqual([])
  await world.git.ensureRepository(gitDir, { defaultBranch: 'main' })
  expect(await readBlob(world.git.open(gitDir), blob)).toBeUndefined()
})

test('maintenance packs, measures and checks', async () => {
  await using world = await TestGit.start()
  const made = await world.repository()
  for (let n = 0; n < 5; n++) made.commit({ [`f${n}`]: 'x'.repeat(1000) })
  gitIn(made.gitDir, ['hash-object', '-w', '--stdin'], 'loose')
  await repack(made.repo, 'incremental')
  await repack(made.repo, 'full')
  await packRefs(made.repo)
  await writeCommitGraph(made.repo)
  await prune(made.repo, { before: new Date(Date.now() + 60_000) })
  expect(gitIn(made.gitDir, ['count-objects', '-v'])).toMatch(/^count: 0\n(.*\n)*packs: 1$/m)
  const files = await readdir(made.gitDir, { recursive: true })
  expect(files).toEqual(expect.arrayContaining(['packed-refs', 'objects/info/commit-graphs/commit-graph-chain']))
  expect(files.some((file) => file.endsWith('.bitmap'))).toBe(true)
  // Lists for dumb clients: git makes their folders, too, and so would bring back those of a repository that was removed meanwhile.
  for (const list of ['info/refs', 'objects/info/packs']) expect(files).not.toContain(list)
  expect(await repositorySize(made.gitDir)).toBeGreaterThan(1000)
  expect(await fsck(made.repo)).toEqual([])

  const pack = files.find((file) => file.endsWith('.pack'))!
  execFileSync('sh', [
    '-c',
    `chmod +w ${made.gitDir}/${pack}; printf XXXX | dd of=${made.gitDir}/${pack} bs=1 seek=40 conv=notrunc status=none`,
  ])
  expect((await fsck(made.repo)).length).toBeGreaterThan(0)

  const missing = world.git.open(join(world.folder, 'missing.git'))
  for (const act of [packRefs, writeCommitGraph, (it: typeof missing) => repack(it, 'full')]) await act(missing)
  expect(await repositorySize(missing.gitDir)).toBe(0)
  expect(await fsck(missing)).toEqual([])
  await rm(missing.gitDir, { recursive: true, force: true })
})

test('a repository that is removed and restored is read again', async () => {
  await using world = await TestGit.start()
  const made = await world.repository()
  const tip = made.commit({ a: 'x' })
  expect((await readCommit(made.repo, tip))?.oid).toBe(tip)
  const path = `${world.folder}/./${basename(made.gitDir)}/`
  expect(await resolve(world.git.open(path), 'main')).toBe(tip)
})

test('an inbox returns the bytes it got, in any chunks', () => {
  const bytes = Buffer.from(Array.from({ length: 1000 }, (_, n) => n % 251))
  for (const cut of [1, 2, 7, 64, 999, 1000]) {
    const inbox = new Inbox()
    for (let at = 0; at < bytes.length; at += cut) inbox.push(bytes.subarray(at, at + cut))
    expect(inbox.indexOf(250)).toBe(250)
    expect(inbox.indexOf(250, 251)).toBe(501)
    expect(inbox.indexOf(255)).toBe(-1)
    expect(inbox.peek(100).equals(bytes.subarray(0, 100))).toBe(true)
    expect(inbox.take(300).equals(bytes.subarray(0, 300))).toBe(true)
    expect(inbox.skip(100)).toBe(100)
    expect(inbox.take(600).equals(bytes.subarray(400))).toBe(true)
    expect([inbox.size, inbox.skip(5)]).toEqual([0, 0])
  }
})
