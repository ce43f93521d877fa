import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { findEmbedded } from '../../src/db/embedded/start.ts'
import { Launched, temporaryFolder } from '../../src/processes/testing/launch.ts'
import { backUp, command, copyEnv, listed, objectsIn } from '../backups/commands.ts'
import { refusal, startInstallation, stop } from '../backups/installation.ts'
import { rewriteBackup } from '../backups/rewritten.ts'
import { HookReceiver } from '../hook-receiver.ts'
import { hasS3, S3Server, s3Env } from '../s3/server.ts'
import { bin, type Env, type Service, serve } from '../service.ts'
import { ownedDatabase, runIn } from '../tables/databases.ts'
import { TableLock } from '../tables/locks.ts'
import { eventually } from '../waiting.ts'
import { git } from '../world.ts'

const restore = (env: Env, ...options: string[]) => command(['restore', ...options], env)

/** Restores a backup, which `stithy check` then finds to be whole. */
async function restored(env: Env, ...options: string[]): Promise<void> {
  const { code, out, err } = await restore(env, ...options)
  expect(code, out + err).toBe(0)
  expect(out).toContain('No problems found.')
}

const titles = async ({ root }: Service): Promise<string[]> =>
  (await root.get('/projects/1/issues')).json.map(({ title }: { title: string }) => title)

test('a backup shows its moment, adds only what has changed, and is restored without what came later', async () => {
  const { env, service, store } = await startInstallation()
  const { root } = service
  const work = await temporaryFolder()
  const remote = `${service.origin.replace('://', '://root:root-token-for-tests@')}/root/one.git`
  await git(work, 'clone', '-q', remote, '.')
  await git(work, 'push', '-q', 'origin', 'HEAD:refs/heads/moved', 'HEAD:refs/heads/deleted')
  const cursor = (await root.get('/events/changes')).headers['x-next-cursor']!

  const first = await backUp(env)
  const before = (await objectsIn(store)).length
  await git(work, 'commit', '-q', '--allow-empty', '-m', 'Later')
  await git(work, 'push', '-q', 'origin', 'HEAD:refs/heads/moved', 'HEAD:refs/heads/later', ':refs/heads/deleted')
  await root.post('/projects/1/issues', { title: 'later' })
  await backUp(env)
  // Changed tables, a repository and the list of it all; not what is equal.
  expect((await objectsIn(store)).length - before).toBeLessThan(6)
  expect(await command(['backup', 'verify'], env)).toMatchObject({ code: 0, out: expect.stringMatching(/^2 backups/) })
  await stop(service)

  const copy = await copyEnv(env)
  await restored(copy, '--at', first)
  const restarted = await serve(copy)
  const branches = (await restarted.root.get('/projects/1/repository/branches')).json
  expect(branches.map(({ name }: { name: string }) => name)).toEqual(['deleted', 'master', 'moved'])
  expect(new Set(branches.map(({ commit }: { commit: { id: string } }) => commit.id)).size).toBe(1)
  expect(await titles(restarted)).toEqual(['remembered'])
  expect((await restarted.root.post('/projects/1/issues', { title: 'new' })).json.iid).toBe(2)
  // Readers of the log continue where they were, although the server counts its transactions from the beginning.
  await eventually(async () => {
    const { json } = await restarted.root.get(`/events/changes?after=${cursor}`)
    expect(json.map(({ kind }: { kind: string }) => kind)).toContain('issue_opened')
  })
  // A copy that is not quiet is the same installation.
  const idOf = (folder: string) => readFile(join(folder, 'installation'), 'utf8')
  expect(await idOf(copy.STITHY_DATA_DIR)).toBe(await idOf(env.STITHY_DATA_DIR))
  await stop(restarted)
})

test('git finds each branch of a restored repository, whatever the characters of its name', async () => {
  const { env, service, store } = await startInstallation()
  const work = await temporaryFolder()
  const remote = `${service.origin.replace('://', '://root:root-token-for-tests@')}/root/one.git`
  await git(work, 'clone', '-q', remote, '.')
  // In the order of UTF-16, and not of UTF-8, emoji come before wide letters.
  const names = ['\u{1f600}', '\u{1f680}', '\uff01', '\uff41', 'a'].map((name) => `refs/heads/${name}`)
  await git(work, 'push', '-q', 'origin', ...names.map((name) => `HEAD:${name}`))
  await backUp(env)
  await stop(service)
  const findAll = async (copy: Env) => {
    const gitDir = join(copy.STITHY_DATA_DIR, 'repositories/default/001/1.git')
    for (const name of names) await git(gitDir, 'rev-parse', '--verify', '-q', name)
  }
  const copy = await copyEnv(env)
  await restored(copy)
  await findAll(copy)

  // As earlier versions have made it.
  await rewriteBackup(store, async (entry, { read, store }) => {
    if (entry.is !== 'repository') return [entry]
    const lines = (await read(entry.refs)).toString().split(/(?<=\n)/)
    return [{ ...entry, refs: await store(lines.toSorted((a, b) => (a.slice(41) < b.slice(41) ? -1 : 1)).join('')) }]
  })
  const other = await copyEnv(env)
  await restored(other)
  await findAll(other)
})

test('a quiet copy is an installation of its own, and sends no hooks until the file is deleted', async () => {
  await using receiver = await HookReceiver.start()
  const { env, service } = await startInstallation()
  await service.root.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: true })
  expect((await service.root.post('/projects/1/hooks', { url: receiver.url, issues_events: true })).status).toBe(201)
  await backUp(env)
  await stop(service)
  const copy = await copyEnv(env)
  await restored(copy, '--quiet')
  const idOf = (folder: string) => readFile(join(folder, 'installation'), 'utf8')
  expect(await idOf(copy.STITHY_DATA_DIR)).not.toBe(await idOf(env.STITHY_DATA_DIR))
  const quiet = await serve(copy)
  await quiet.root.post('/projects/1/issues', { title: 'unheard' })
  await pause(2_000)
  expect(receiver.received).toEqual([])
  await stop(quiet)
  await rm(join(copy.STITHY_DATA_DIR, 'quiet'))
  const loud = await serve(copy)
  await eventually(() => expect(receiver.received).toHaveLength(1))
  await stop(loud)
})

test('backups and restores that are killed at any point leave nothing but a complete repetition', async () => {
  const { env, service, store } = await startInstallation({ STITHY_BACKUP_RATE: '1' })
  // As the first backup leaves them that is killed while it makes the store.
  await mkdir(store)
  for (const name of ['stithy-backups', 'lease']) await writeFile(join(store, `${name}.${randomUUID()}~`), '')
  for (let n = 0; n < 6; n++) {
    const launched = new Launched(['backup'], env, { file: bin })
    await pause(300 + n * 150)
    launched.process.kill('SIGKILL')
    await launched.exit
  }
  const complete = await listed(env)
  const id = await backUp(env)
  expect((await listed(env)).map((each) => each.id)).toEqual([...complete.map((each) => each.id), id])
  expect(await command(['backup', 'verify'], env)).toMatchObject({ code: 0 })

  // The database of the service ends with it.
  const during = new Launched(['backup', '--full'], env, { file: bin })
  await pause(500)
  process.kill(service.launched.pid, 'SIGKILL')
  await service.launched.exit
  const code = await during.exit
  expect((await listed(env)).length).toBe(complete.length + (code === 0 ? 2 : 1))

  const copy = await copyEnv(env)
  const mark = join(copy.STITHY_DATA_DIR, 'unfinished-restore')
  for (const ms of [0, 400, 1_200]) {
    const launched = new Launched(['restore', '--at', id], copy, { file: bin })
    await eventually(() => expect(existsSync(mark)).toBe(true))
    await pause(ms)
    launched.process.kill('SIGKILL')
    await launched.exit
    // On a fast machine it has ended.
    if (!existsSync(mark)) break
    expect(await refusal(copy)).toMatch(/restore .* has not been completed/)
  }
  if (!existsSync(mark)) await rm(copy.STITHY_DATA_DIR, { recursive: true, maxRetries: 10 })
  await mkdir(copy.STITHY_DATA_DIR, { recursive: true })
  // As one leaves that is killed while it writes its mark.
  await writeFile(`${mark}.123`, '')
  await restored(copy, '--at', id)
  expect(await refusal(copy)).toBe('')
  expect(await restore(copy)).toMatchObject({ code: 1, err: expect.stringContaining('is not empty') })
  expect((await objectsIn(store)).some((path) => path.endsWith('~'))).toBe(false)
})

test('a repeated restore first ends the database that a killed one left running', async () => {
  const { env, service } = await startInstallation()
  const id = await backUp(env)
  await stop(service)
  const copy = await copyEnv(env)
  const killed = new Launched(['restore', '--at', id], copy, { file: bin })
  const pidFile = join(copy.STITHY_DATA_DIR, 'postgres', 'cluster', 'postmaster.pid')
  const database = await eventually(async () => {
    const pid = Number.parseInt(await readFile(pidFile, 'utf8'), 10)
    expect(pid).toBeGreaterThan(1)
    return pid
  })
  // Beside it, another one has nothing to do.
  expect(await command(['restore', '--at', id], copy)).toEqual({
    code: 1,
    out: '',
    err: `Another restore into ${copy.STITHY_DATA_DIR} is running (process ${killed.pid}): wait until it has ended.\n`,
  })
  // It does not end with the process that started it.
  process.kill(database, 'SIGSTOP')
  killed.process.kill('SIGKILL')
  await killed.exit
  expect(existsSync(join(copy.STITHY_DATA_DIR, 'unfinished-restore'))).toBe(true)
  process.kill(database, 'SIGCONT')
  await restored(copy, '--at', id)
  // Its pid may be that of another process by now, or of one that has ended and waits to be reaped.
  const folder = await readlink(`/proc/${database}/cwd`).catch(() => '')
  expect(folder).not.toContain(copy.STITHY_DATA_DIR)
})

test('a backup has a lower priority than the service, and so has its connection to the database', async () => {
  const { env, service } = await startInstallation()
  const lock = await TableLock.take((await findEmbedded(env.STITHY_DATA_DIR))!, 'appearance')
  const running = new Launched(['backup'], env, { file: bin })
  const pid = await lock.waitingBackup()
  expect([getPriority(running.pid), getPriority(pid)]).toEqual([10, 10])
  expect(getPriority(service.launched.pid)).toBe(getPriority(process.pid))
  await lock.release()
  expect(await running.exit).toBe(0)
  await stop(service)
})

test('two backups at once are refused, and old backups are removed with what only they use', async () => {
  const { env, service, store } = await startInstallation({ STITHY_BACKUP_RATE: '1', STITHY_BACKUP_KEEP: '1d' })
  const both = await Promise.all([command(['backup'], env), command(['backup'], env)])
  // On a busy machine the second may begin when the first has ended.
  expect(both.map(({ code }) => code)).toContain(0)
  for (const { code, err } of both)
    if (code !== 0) expect(err).toMatch(/Another (backup is running|process is changing)/)
  await service.root.delete('/projects/1/issues/1')
  const unfinished = join(store, `lease.${randomUUID()}~`)
  await writeFile(unfinished, '')
  const last = await backUp(env)
  expect((await listed(env)).map(({ id }) => id)).toEqual([last])
  expect(existsSync(unfinished)).toBe(false)
  const used = (await objectsIn(store)).length
  await backUp(env)
  expect((await objectsIn(store)).length).toBeLessThanOrEqual(used + 1)
  expect(await command(['backup', 'verify'], env)).toMatchObject({ code: 0 })
  await stop(service)
})

test('a backup is restored by the owner of an empty database, and no other database is touched', async () => {
  const { env, service } = await startInstallation()
  await backUp(env)
  await stop(service)
  const url = await ownedDatabase()
  const copy = { ...(await copyEnv(env)), STITHY_DATABASE_URL: url }
  await runIn(url, 'create table theirs (id integer)')
  const other = await restore(copy)
  expect(other).toMatchObject({ code: 1, err: expect.stringContaining('The database is not empty') })
  await runIn(url, 'drop table theirs')
  await expect(runIn(url, 'create role intruder')).rejects.toThrow('permission denied')
  await restored(copy)
  const restarted = await serve(copy)
  expect(await titles(restarted)).toEqual(['remembered'])
  // From there, too.
  await command(['backup', '--to', join(await temporaryFolder(), 'second')], copy)
  await stop(restarted)
  // A second copy into the same database would mix both.
  const folder = join(await temporaryFolder(), 'third')
  expect(await restore({ ...copy, STITHY_DATA_DIR: folder })).toMatchObject({ code: 1 })
  expect(await refusal({ ...copy, STITHY_DATA_DIR: folder })).toMatch(/has not been completed/)
})

test.skipIf(!hasS3)('a backup to object storage is restored (skipped without test/s3/install)', async () => {
  await using server = await S3Server.start()
  const url = await server.bucket('backups', { prefix: 'stithy' })
  const { env, service } = await startInstallation({ ...s3Env, STITHY_BACKUP_URL: url })
  await backUp(env)
  await service.root.post('/projects/1/issues', { title: 'second' })
  await backUp(env)
  await stop(service)
  expect(await command(['backup', 'verify'], env)).toMatchObject({ code: 0, out: expect.stringMatching(/^2 backups/) })
  // Blobs go to object storage, too.
  const copy = { ...(await copyEnv(env)), STITHY_BLOB_URL: await server.bucket('copies') }
  await restored(copy)
  const restarted = await serve(copy)
  expect(await titles(restarted)).toEqual(['second', 'remembered'])
  await stop(restarted)
  expect(await restore({ ...copy, STITHY_DATA_DIR: join(await temporaryFolder(), 'second') })).toMatchObject({
    code: 1,
    err: expect.stringContaining('has blobs'),
  })
})
