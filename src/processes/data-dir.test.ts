import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startZombie } from '../../test/programs/zombie.ts'
import { DataDirInUse, holderOf, lockDataDir } from './data-dir.ts'
import { identityOf } from './process-identity.ts'
import { temporaryFolder } from './testing/launch.ts'

const lockElsewhere = (folder: string) => `
  import { lockDataDir } from '${new URL('./data-dir.ts', import.meta.url).href}'
  const line = await lockDataDir('${folder}').then(() => 'got', (error) => error.name + ': ' + error.message)
  console.log(line)
  setInterval(() => {}, 1000)
`

/** Locks in a folder, without the sockets of their processes. */
const locksIn = (folder: string): string[] =>
  readdirSync(folder).filter((name) => !statSync(join(folder, name)).isSocket())

/** Another process that tries to take the lock, prints the result, and waits. */
async function tryElsewhere(folder: string, before: readonly string[] = []) {
  const [program, ...words] = [...before, process.execPath, '--input-type=module-typescript', '-e']
  const child = spawn(program!, [...words, lockElsewhere(folder)])
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { child, line }
}

test('the lock of a data folder excludes other processes until it is released', async () => {
  const folder = join(await temporaryFolder(), 'made', 'on the way')
  const lock = await lockDataDir(folder)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  await expect(lockDataDir(folder)).rejects.toThrow(DataDirInUse)
  expect((await tryElsewhere(folder)).line).toContain(`Stithy already runs in ${folder} (process ${process.pid})`)
  lock[Symbol.dispose]()
  expect((await tryElsewhere(folder)).line).toBe('got')
})

test('one of many processes that find the lock of a dead process takes it', async () => {
  const folder = await temporaryFolder()
  for (let round = 0; round < 3; round += 1) {
    const tries = await Promise.all(Array.from({ length: 6 }, () => tryElsewhere(folder)))
    expect(tries.map(({ line }) => line).filter((line) => line === 'got')).toHaveLength(1)
    for (const { child } of tries) child.kill('SIGKILL')
    await Promise.all(tries.map(({ child }) => once(child, 'close')))
  }
  expect(locksIn(folder)).toEqual(['lock'])
})

test.for([
  { why: 'of a process id that another process has now', content: `${process.pid} another-boot 123\n` },
  { why: 'that is truncated', content: '12' },
  { why: 'that is empty', content: '' },
])('a lock $why is ignored', async ({ content }) => {
  const folder = await temporaryFolder()
  writeFileSync(join(folder, 'lock'), content)
  using _lock = await lockDataDir(folder)
  expect(readFileSync(join(folder, 'lock'), 'utf8')).toBe(`${process.pid} ${identityOf(process.pid)}\n`)
})

test.runIf(spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0)(
  'the lock of a process of another container, which cannot be seen, holds until it ends (skipped: needs root and unshare)',
  async () => {
    const folder = await temporaryFolder()
    const elsewhere = await tryElsewhere(folder, ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'])
    expect(elsewhere.line).toBe('got')
    await expect(lockDataDir(folder)).rejects.toThrow(DataDirInUse)
    expect(await holderOf(folder)).toBeDefined()
    elsewhere.child.kill('SIGKILL')
    await vi.waitFor(async () => expect(await holderOf(folder)).toBeUndefined(), 10_000)
    const lock = await lockDataDir(folder)
    expect(readdirSync(folder)).toHaveLength(2)
    lock[Symbol.dispose]()
    expect(readdirSync(folder)).toEqual([])
  },
)

test('a start does not change what another one writes that has its process id, in another container', async () => {
  const folder = await temporaryFolder()
  const theirs = join(folder, `lock.${process.pid}`)
  writeFileSync(theirs, `${process.pid} another-container 1\n`)
  using _lock = await lockDataDir(folder)
  expect(readFileSync(theirs, 'utf8')).toBe(`${process.pid} another-container 1\n`)
  expect(readFileSync(join(folder, 'lock'), 'utf8')).toBe(`${process.pid} ${identityOf(process.pid)}\n`)
})

test('what a start has left that was killed before it had the lock is removed when it is old', async () => {
  const folder = await temporaryFolder()
  const [old, young] = [`lock.${randomUUID()}`, `lock.${randomUUID()}`]
  for (const name of [old, young, 'lock.123']) writeFileSync(join(folder, name), '123 gone 1\n')
  const yesterday = Date.now() / 1000 - 24 * 3600
  for (const name of [old, 'lock.123']) utimesSync(join(folder, name), yesterday, yesterday)
  using _lock = await lockDataDir(folder)
  expect(locksIn(folder).toSorted()).toEqual(['lock', young])
})

test('an interrupted takeover of a lock does not block', async () => {
  const folder = await temporaryFolder()
  writeFileSync(join(folder, 'lock'), '999999999 gone 1\n')
  writeFileSync(join(folder, 'lock.takeover'), '999999999 gone 1\n')
  using _lock = await lockDataDir(folder)
  expect(locksIn(folder)).toEqual(['lock'])
})

test('a zombie process has no identity', async () => {
  expect(identityOf(await startZombie())).toBeUndefined()
  expect(identityOf(process.pid)).toMatch(/^[0-9a-f-]{36} \d+$/)
})

test.runIf(process.getuid?.() === 0)('a data folder without write permission is reported in one sentence', async () => {
  const folder = await temporaryFolder()
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', lockElsewhere(folder)], {
    uid: 1,
    gid: 1,
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = await once(createInterface(child.stdout), 'line')
  expect(line).toBe(`Failure: Cannot write to the data folder ${folder} (STITHY_DATA_DIR): permission denied.`)
})
