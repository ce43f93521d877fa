import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../test/waiting.ts'
import {
  allGone,
  freePort,
  isAlive,
  Launched,
  preparedFolder,
  prepareTemplate,
  serveStandIn,
  temporaryFolder,
} from './testing/launch.ts'

let template: string
beforeAll(async () => {
  template = await prepareTemplate()
})
afterAll(() => rm(template, { recursive: true }))

/** A warm start, which suffices for most tests. */
const serve = async (env: Record<string, string> = {}) =>
  serveStandIn({ STITHY_DATA_DIR: await preparedFolder(template), ...env })

/** A new connection: an existing one would reach the same worker. */
const askPid = async (url: string) =>
  Number(await (await fetch(`${url}/pid`, { headers: { connection: 'close' } })).text())
const save = async (url: string, text: string) => {
  const { status } = await fetch(`${url}/notes?text=${text}`, { method: 'POST' })
  expect(status).toBe(201)
}
const notes = async (url: string) => (await fetch(`${url}/notes`)).json()
/** Whether a connection is accepted, whatever its response. */
const accepts = (url: string) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
const answers = (url: string) => eventually(() => fetch(`${url}/pid`), 20)

describe('a first start', () => {
  test('a first start prints the address and the administrator once, and stores them privately', async () => {
    const first = await serveStandIn()
    const file = join(first.env['STITHY_DATA_DIR']!, 'root-credentials')
    const [, password, token] = /^username: root\npassword: (\S{16,})\ntoken: (\S{20,})\n$/.exec(
      readFileSync(file, 'utf8'),
    )!
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(first.out).toContain(file)
    for (const secret of [password!, token!]) expect(first.out.split(secret)).toHaveLength(2)
    const lines = first.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.at(-1)).toMatchObject({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      msg: `Stithy is ready at ${first.url} (to push: git push ${first.url}/root/hello.git main)`,
      url: first.url,
      data_dir: first.env['STITHY_DATA_DIR'],
    })
    expect(lines.at(-2)).toMatchObject({ username: 'root', password, token })
    expect(first.err).toBe('')
    first.process.kill('SIGTERM')
    expect(await first.exit).toBe(0)

    const second = await serveStandIn(first.env)
    expect(second.out).not.toContain(token!)
    expect(readFileSync(file, 'utf8')).toContain(token!)
  })

  test('a first start uses the password and the token of the settings', async () => {
    const { env } = await serveStandIn({
      STITHY_ROOT_PASSWORD: 'correct-horse',
      STITHY_ROOT_TOKEN: 'a-token-of-20-letters',
    })
    const text = readFileSync(join(env['STITHY_DATA_DIR']!, 'root-credentials'), 'utf8')
    expect(text).toBe('username: root\npassword: correct-horse\ntoken: a-token-of-20-letters\n')
  })

  test('a first start that is killed does not prevent the next one', async () => {
    const env = { STITHY_DATA_DIR: await temporaryFolder(), STITHY_HTTP_PORT: String(await freePort()) }
    for (const afterMs of [150, 500, 900]) {
      const killed = new Launched(['serve'], env)
      await delay(afterMs)
      const family = killed.family()
      killed.process.kill('SIGKILL')
      await killed.exit
      await allGone(family)
    }
    const { url } = await serveStandIn(env)
    const token = /token: (.*)/.exec(readFileSync(join(env.STITHY_DATA_DIR, 'root-credentials'), 'utf8'))![1]!
    await save(url, token)
    expect(await notes(url)).toEqual([token])
  })

  test('a start that is stopped half-way leaves no process', async () => {
    const env = { STITHY_DATA_DIR: await temporaryFolder(), STITHY_HTTP_PORT: String(await freePort()) }
    const launched = new Launched(['serve'], env)
    await eventually(() => expect(launched.out).toContain('Creating the database'))
    const family = launched.family()
    launched.process.kill('SIGTERM')
    expect(await launched.exit).toBe(0)
    expect(launched.out).not.toContain('ready')
    await allGone(family)
  })
})

describe('stopping the service', () => {
  test.for(['SIGTERM', 'SIGINT'] as const)(
    'a stop by %s completes running requests and leaves no process',
    async (signal) => {
      const service = await serve()
      const response = await fetch(`${service.url}/slow?ms=700`)
      const family = service.family()
      // Primary, two workers, jobs, runner, PostgreSQL with its helpers, and the watcher.
      expect(family.length).toBeGreaterThan(8)
      service.process.kill(signal)
      await eventually(async () => expect(await accepts(service.url)).toBe(false), 20)
      expect(await response.text()).toBe('started finished')
      expect(await service.exit).toBe(0)
      await allGone(family)
    },
  )

  test('a stop says what it waits for, and a second signal aborts it at once', async () => {
    const service = await serve()
    const responses = [1, 2].map(() => fetch(`${service.url}/slow?ms=250000`))
    const text = (await responses[0]!).text().catch(() => 'cut')
    await responses[1]
    service.process.kill('SIGTERM')
    await eventually(() => expect(service.out).toContain('"msg":"Stopping: waiting for 2 requests."'))
    expect(JSON.parse(service.out.trim().split('\n').at(-1)!)).toMatchObject({ requests: 2, transfers: 0, jobs: 0 })
    service.process.kill('SIGTERM')
    expect(await service.exit).toBe(0)
    expect(await text).toBe('cut')
  })
})

/** Whether a process of this machine has accepted the connection of a client to it. */
function isAccepted({ localPort, remotePort }: Socket): boolean {
  const hex = (port: number | undefined) => port!.toString(16).toUpperCase().padStart(4, '0')
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .some(
      ([, server, client, , , , , , , inode]) =>
        server?.endsWith(`:${hex(remotePort)}`) && client?.endsWith(`:${hex(localPort)}`) && inode !== '0',
    )
}

describe('kill -9', () => {
  test('a worker that is killed is replaced', async () => {
    const service = await serve()
    const before = service.named('stithy worker')
    expect(before).toHaveLength(2)
    process.kill(before[0]!, 'SIGKILL')
    await eventually(() => {
      const now = service.named('stithy worker')
      expect(now).toHaveLength(2)
      expect(now).not.toContain(before[0])
    })
    await answers(service.url)
    expect(service.err).toMatch(/^HTTP worker [12] ended \(SIGKILL\): starting it again\.\n$/)
    // It accepts connections once it listens.
    await eventually(async () => {
      const pids = await Promise.all([1, 2, 3, 4].map(() => askPid(service.url)))
      expect(pids.some((pid) => !before.includes(pid))).toBe(true)
    })
  })

  test('connections of a hanging worker are closed when it is killed', async () => {
    const service = await serve({ STITHY_PROCESSES: '1' })
    const [worker] = service.named('stithy worker')
    process.kill(worker!, 'SIGSTOP')
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    await once(socket, 'connect')
    // The primary hands over what it accepts; until then the socket belongs to the kernel, with inode 0.
    await eventually(() => expect(isAccepted(socket)).toBe(true))
    process.kill(worker!, 'SIGKILL')
    socket.on('error', () => {}).resume()
    await eventually(() => expect(socket.closed).toBe(true))
  })

  test.for(['stithy jobs', 'stithy git runner'])('the process %s is replaced after kill -9', async (title) => {
    const service = await serve()
    // The jobs process starts when requests are answered.
    const [before] = await eventually(() => {
      expect(service.named(title)).toHaveLength(1)
      return service.named(title)
    })
    process.kill(before!, 'SIGKILL')
    await eventually(() => {
      const now = service.named(title)
      expect(now).toHaveLength(1)
      expect(now).not.toContain(before)
    })
    await answers(service.url)
  })

  test('PostgreSQL is restarted after kill -9 with all acknowledged data', async () => {
    const service = await serve()
    await save(service.url, 'kept')
    const [before] = service.family().filter((pid) => /bin\/postgres$/.test(commandName(pid)))
    process.kill(before!, 'SIGKILL')
    await eventually(async () => expect(await notes(service.url)).toEqual(['kept']), 50)
    expect(service.err).toContain('PostgreSQL ended: starting it again.')
  })

  test('everything ends after kill -9 of the primary, and the next start has all data', async () => {
    const service = await serve()
    await save(service.url, 'kept')
    const family = service.family()
    service.process.kill('SIGKILL')
    await service.exit
    await allGone(family)

    const again = await serveStandIn(service.env)
    expect(await notes(again.url)).toEqual(['kept'])
  })

  test('a start right after kill -9 of the primary succeeds', async () => {
    const service = await serve()
    await save(service.url, 'kept')
    service.process.kill('SIGKILL')
    const again = await serveStandIn(service.env)
    expect(await notes(again.url)).toEqual(['kept'])
  })
})

test('a process that keeps ending stops the service with one sentence', async () => {
  const service = await serve()
  await save(service.url, 'break jobs')
  await service.killNamed('stithy jobs')
  expect(await service.exit).toBe(1)
  const lines = service.err.trim().split('\n')
  expect(lines.at(-1)).toBe('The jobs process ended 6 times in a row (the jobs are broken): Stithy stops.')
  expect(lines).toHaveLength(6)
})

test('jobs that a full disk prevents are started again when there is room, and the rest of the service goes on', async () => {
  const service = await serve()
  await save(service.url, 'fill the disk')
  await service.killNamed('stithy jobs')
  // More attempts than end the service for other reasons.
  const attempts = async () =>
    ((await notes(service.url)) as string[]).filter((text) => text === 'no room for jobs').length
  await expect.poll(attempts, { timeout: 120_000 }).toBeGreaterThan(7)
  expect(service.err.trim().split('\n').slice(1)).toEqual([
    'The jobs process ended: A disk is full: could not extend file: No space left on device. Make room there. It is started again when there is room.',
  ])
  await fetch(`${service.url}/forget?text=fill+the+disk`, { method: 'POST' })
  const isBack = async () => (await fetch(`${service.url}/pid`)).ok && service.named('stithy jobs').length
  await expect.poll(isBack, { timeout: 120_000 }).toBe(1)
})

test.runIf(process.getuid?.() === 0)('a start by root in the data folder of another user says so', async () => {
  const folder = await temporaryFolder()
  chownSync(folder, 1, 1)
  const service = await serve({ STITHY_DATA_DIR: folder })
  expect(service.out).toContain(
    `${folder} belongs to user 1, who cannot use what root creates there: start Stithy as user 1.`,
  )
})

describe('refused starts', () => {
  /** One sentence, no stack trace, exit code not zero. */
  const refusal = async (env: Record<string, string>, words = ['serve']) => {
    const launched = new Launched(words, { STITHY_HTTP_PORT: String(await freePort()), ...env })
    expect(await launched.exit).not.toBe(0)
    expect(launched.err.trim().split('\n')).toHaveLength(1)
    return launched.err.trim()
  }

  test('a start on a data folder in use names the process and leaves it running', async () => {
    const service = await serve()
    const dataDir = service.env['STITHY_DATA_DIR']!
    expect(await refusal({ STITHY_DATA_DIR: dataDir })).toBe(
      `Stithy already runs in ${dataDir} (process ${service.pid}): stop it, or set STITHY_DATA_DIR.`,
    )
    await save(service.url, 'still here')
  })

  test('a start on a port in use is refused', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    expect(await refusal({ STITHY_DATA_DIR: await temporaryFolder(), STITHY_HTTP_PORT: String(port) })).toBe(
      `Another program already listens on 127.0.0.1:${port}: stop it, or set STITHY_HTTP_PORT.`,
    )
  })

  test('a start without the file of the key of backups is refused', async () => {
    const folder = await temporaryFolder()
    const file = join(folder, 'backup.key')
    const env = { STITHY_DATA_DIR: join(folder, 'data'), STITHY_BACKUP_KEY_FILE: file }
    expect(await refusal(env)).toMatch(
      /^Cannot read the key of the backups \(STITHY_BACKUP_KEY_FILE\): ENOENT: no such file/,
    )
    writeFileSync(file, 'short')
    expect(await refusal(env)).toMatch(/^The key in .* must have at least 32 characters/)
  })

  test('a start on an address of another machine is refused', async () => {
    const sentence = await refusal({ STITHY_DATA_DIR: await temporaryFolder(), STITHY_HTTP_HOST: '192.0.2.1' })
    expect(sentence).toMatch(/^192\.0\.2\.1:\d+ is not an address of this machine: set STITHY_HTTP_HOST\.$/)
  })

  test('a start on a data folder without write permission is refused', async () => {
    const file = join(await temporaryFolder(), 'file')
    writeFileSync(file, '')
    expect(await refusal({ STITHY_DATA_DIR: join(file, 'data') })).toBe(
      `Cannot write to the data folder ${join(file, 'data')} (STITHY_DATA_DIR): not a directory.`,
    )
  })

  test('a start on a file instead of a data folder is refused', async () => {
    const file = join(await temporaryFolder(), 'file')
    writeFileSync(file, '')
    expect(await refusal({ STITHY_DATA_DIR: file })).toBe(
      `Cannot write to the data folder ${file} (STITHY_DATA_DIR): not a folder.`,
    )
  })

  test.runIf(process.platform === 'linux')('a start where the system creates no folders is refused', async () => {
    expect(await refusal({ STITHY_DATA_DIR: '/proc/stithy/data' })).toBe(
      'Cannot write to the data folder /proc/stithy/data (STITHY_DATA_DIR): no such file or directory.',
    )
  })

  test.for(
    [
      ['token', 'create', '--user', 'root', '--scopes', 'api'],
      ['user', 'list'],
      ['check'],
      ['rotate-secrets'],
      ['adopt'],
    ].map((words) => ({ words, command: words.slice(0, 2).join(' ') })),
  )('$command is refused before the first start, and creates no installation', async ({ words }) => {
    const folder = join(await temporaryFolder(), 'data')
    const sentence = (place: string) =>
      `There is no installation in ${place}: set STITHY_DATA_DIR to the data folder of the service, or start the service.`
    expect(await refusal({ STITHY_DATA_DIR: folder }, words)).toBe(sentence(folder))
    expect(existsSync(folder)).toBe(false)
    mkdirSync(folder)
    expect(await refusal({ STITHY_DATA_DIR: folder }, words)).toBe(sentence(folder))
    expect(existsSync(join(folder, 'postgres'))).toBe(false)
  })

  test('a start without a reachable database is refused', async () => {
    const port = await freePort()
    const url = `postgresql://ann:secret@127.0.0.1:${port}/forge`
    expect(await refusal({ STITHY_DATA_DIR: await temporaryFolder(), STITHY_DATABASE_URL: url })).toBe(
      `Cannot reach the database at 127.0.0.1:${port} (STITHY_DATABASE_URL): connection refused.`,
    )
  })

  test('a start with an old git or without git is refused', async () => {
    const folder = await temporaryFolder()
    const env = { STITHY_DATA_DIR: join(folder, 'data'), PATH: folder }
    expect(await refusal(env)).toBe('Stithy needs git 2.38 or newer, and there is no git on the PATH.')
    writeFileSync(join(folder, 'git'), '#!/bin/sh\necho git version 2.20.1\n', { mode: 0o755 })
    expect(await refusal(env)).toBe('Stithy needs git 2.38 or newer, and this is 2.20.1.')
  })
})

describe('an external database', () => {
  test('the service runs on an external database, and reports refused connections', async () => {
    const database = await serve()
    const socket = join(database.env['STITHY_DATA_DIR']!, 'postgres/socket')
    const url = (user: string) => `postgresql://${user}@localhost/stithy?host=${encodeURIComponent(socket)}`

    const service = await serve({ STITHY_DATABASE_URL: url('stithy') })
    await save(service.url, 'shared')
    expect(await notes(database.url)).toEqual(['shared'])
    // Another service has created the administrator there.
    expect(service.out).not.toContain('token')
    expect(service.family().some((pid) => commandName(pid).endsWith('postgres'))).toBe(false)

    const env = { STITHY_DATA_DIR: await temporaryFolder(), STITHY_HTTP_PORT: String(await freePort()) }
    const refused = new Launched(['serve'], { ...env, STITHY_DATABASE_URL: url('stranger') })
    expect(await refused.exit).toBe(1)
    expect(refused.err.trim()).toMatch(/^The database rejects the connection: .*"stranger".*\.$/)
  })
})

describe('other commands', () => {
  test('commands work while the service runs and when it is stopped', async () => {
    const service = await serve()
    const { env } = service
    const create = ['token', 'create', '--user', 'root', '--scopes', 'api, read_user']
    const command = async (words: string[]) => {
      const launched = new Launched(words, env)
      return [await launched.exit, launched.out.trim(), launched.err.trim()]
    }
    const ok = [0, 'token-of-root-for-api+read_user', '']
    expect(await command(create)).toEqual(ok)
    await save(service.url, 'bad')
    expect(await command(['check'])).toEqual([1, '1 problem.', 'The note "bad" is bad.'])
    expect(await command(['migrate'])).toEqual([0, 'Migrating…\nThe database is up to date.', ''])
    expect(await command(['token', 'create', '--user', 'ann', '--scopes', 'api'])).toEqual([1, '', 'User Not Found'])
    service.process.kill('SIGTERM')
    await service.exit

    expect(await command(create)).toEqual(ok)
    expect(await command(['check'])).toEqual([1, '1 problem.', 'The note "bad" is bad.'])
  })
})

function commandName(pid: number): string {
  return isAlive(pid) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0]! : ''
}

test.for(['uploads', 'fetches'])('a start removes files that a crash left unfinished: %s', async (kind) => {
  const folder = await preparedFolder(template)
  const left = join(folder, 'tmp', kind, 'unfinished')
  mkdirSync(dirname(left), { recursive: true })
  writeFileSync(left, 'half')
  await serveStandIn({ STITHY_DATA_DIR: folder })
  expect(existsSync(left)).toBe(false)
})
