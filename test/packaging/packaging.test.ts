import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { freePort } from '../../src/processes/testing/launch.ts'
import { databaseAt } from '../global-setup.ts'
import { eventually } from '../waiting.ts'

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

const canUnshare = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status === 0
const arbitraryUid = 54_321

/** A command of the container in an empty read-only root; `data` is its volume. Killed with its children after the test. */
function container(data: string, env: Record<string, string>, ...words: string[]) {
  const empty = mkdtempSync(join(tmpdir(), 'stithy-root-'))
  const child = spawn(
    'unshare',
    [
      '--mount',
      '--pid',
      '--fork',
      '--kill-child',
      join(root, 'test/packaging/container-root.sh'),
      empty,
      root,
      data,
      String(arbitraryUid),
      ...words,
    ],
    {
      env: {
        PATH: process.env['PATH'],
        STITHY_DATA_DIR: '/data/stithy',
        STITHY_SSH_PORT: '0',
        STITHY_PROCESSES: '1',
        ...env,
      },
    },
  )
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  const ended = once(child, 'close').then(([code]) => code as number)
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return rmSync(empty, { recursive: true, force: true })
    // The first process of the namespace: with it, all others of the namespace end. `unshare` then ends by itself.
    const [first] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, {
      encoding: 'utf8',
      flag: 'r',
    }).split(' ')
    if (first) process.kill(Number(first), 'SIGKILL')
    else child.kill('SIGKILL')
    await ended
    rmSync(empty, { recursive: true, force: true })
  })
  return { ended, output: () => output }
}

function volume(): string {
  const data = mkdtempSync(join(tmpdir(), 'stithy-volume-'))
  onTestFinished(() => rmSync(data, { recursive: true, force: true, maxRetries: 5 }))
  mkdirSync(join(data, 'tmp'))
  // As the Dockerfile makes it: any user id may create its folder in it.
  for (const folder of [data, join(data, 'tmp')]) chmodSync(folder, 0o1777)
  return data
}

/** URL over TCP of a new database of the test server, which listens on a socket only. */
async function emptyDatabase(): Promise<string> {
  const { adminUrl } = inject('postgres')
  const name = `container_${process.pid}_${Math.random().toString(36).slice(2)}`
  const client = new pg.Client({ connectionString: adminUrl })
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  const url = new URL(databaseAt(adminUrl, name))
  const host = url.searchParams.get('host')
  if (host === null) return url.toString()
  const relay = createServer((socket) => {
    const onwards = connect(join(host, '.s.PGSQL.5432'))
    socket.pipe(onwards).pipe(socket)
    for (const each of [socket, onwards])
      each.on('error', () => {
        socket.destroy()
        onwards.destroy()
      })
  })
  const port = await freePort()
  await new Promise<void>((resolve) => relay.listen(port, '127.0.0.1', resolve))
  onTestFinished(() => void relay.close())
  return `postgresql://${url.username}@127.0.0.1:${port}/${name}`
}

describe('the container', () => {
  test.skipIf(!canUnshare)(
    'the entry point starts the service in an empty read-only root as an arbitrary user id (skipped: needs root and unshare)',
    async () => {
      const data = volume()
      const port = String(await freePort())
      const env = { STITHY_HTTP_PORT: port, STITHY_DATABASE_URL: await emptyDatabase() }
      const service = container(data, env, 'serve')
      service.ended.catch(() => {})
      await Promise.race([
        eventually(() => expect(service.output()).toContain('Stithy is ready')),
        service.ended.then((code) => Promise.reject(new Error(`ended with ${code}: ${service.output()}`))),
      ])
      expect(await (await fetch(`http://127.0.0.1:${port}/-/health`)).text()).toBe('Stithy OK')
      expect((await fetch(`http://127.0.0.1:${port}/openapi.json`)).status).toBe(200)
      expect(statSync(join(data, 'stithy')).uid).toBe(arbitraryUid)
      expect(readdirSync(join(data, 'stithy'))).toContain('secrets.keys')
      const probe = container(data, env, 'healthcheck')
      expect(await probe.ended, probe.output()).toBe(0)
      const unready = container(volume(), { STITHY_HTTP_PORT: String(await freePort()) }, 'healthcheck')
      expect(await unready.ended).toBe(1)
    },
  )

  test.skipIf(!canUnshare)(
    'without an outside database an unnamed user id is refused in one sentence (skipped: needs root and unshare)',
    async () => {
      const refused = container(volume(), { STITHY_HTTP_PORT: String(await freePort()) }, 'serve')
      expect(await refused.ended).toBe(1)
      expect(refused.output()).toMatch(/^The embedded PostgreSQL needs a user with a name.*STITHY_DATABASE_URL\.\n$/)
    },
  )

  test('the image contains what the service needs at run time, and nothing else', () => {
    const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, paths]) =>
      paths!.split(' '),
    )
    expect(copied.filter((path) => !existsSync(join(root, path)))).toEqual([])
    const allowed = read('.dockerignore')
      .trim()
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1))
    expect(copied.toSorted()).toEqual(allowed.toSorted())
  })

  test.runIf(process.platform === 'linux')(
    'each stage installs the libraries of the packaged Node that its base lacks',
    () => {
      /** What the slim images of Debian have: libraries of libc6, libstdc++6 and libgcc-s1. */
      const inBase = /^(linux-vdso|ld-linux-[\w-]+|lib(c|m|dl|pthread|rt|stdc\+\+|gcc_s))\.so/
      const packages: Readonly<Record<string, string>> = { 'libatomic.so.1': 'libatomic1' }
      const { stdout } = spawnSync('ldd', [join(root, `node_modules/node-linux-${process.arch}/bin/node`)], {
        encoding: 'utf8',
      })
      const libraries = stdout.split('\n').flatMap((line) => /^\s+(?:\/\S*\/)?([\w+.-]+)/.exec(line)?.[1] ?? [])
      expect(libraries).toContain('libc.so.6')
      const needed = libraries.filter((library) => !inBase.test(library)).map((library) => packages[library] ?? library)
      for (const stage of read('Dockerfile')
        .split(/^FROM /m)
        .slice(1))
        expect(stage.match(/apt-get install [^&\n]*/)?.[0].split(' ')).toEqual(expect.arrayContaining(needed))
    },
  )

  test('the compose file is valid, has a read-only root and sets only known settings', () => {
    const { services } = parse(read('packaging/compose.yaml'))
    expect(services.stithy).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
    const known = new Set(read('src/config.ts').match(/\bSTITHY_[A-Z_]*[A-Z]\b/g))
    expect(Object.keys(services.stithy.environment).filter((name) => !known.has(name))).toEqual([])
    expect(services.stithy.environment.STITHY_DATABASE_URL).toContain('@database:5432/')
  })
})

const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0

const canRestrict =
  process.platform === 'linux' &&
  spawnSync('python3', [join(root, 'test/packaging/restrict-families.py'), 'AF_UNIX', 'true']).status === 0

describe('the systemd unit', () => {
  test.skipIf(!canRestrict)(
    'the unit lets the service read the addresses of the machine, to which hooks may send nothing (skipped: needs Python)',
    () => {
      const [, families] = /^RestrictAddressFamilies=(.*)$/m.exec(read('packaging/stithy.service'))!
      const under = (allowed: string) => {
        const words = [join(root, 'test/packaging/restrict-families.py'), allowed, process.execPath, '-p']
        return spawnSync('python3', [...words, 'Object.keys(os.networkInterfaces()).length > 0'], { encoding: 'utf8' })
      }
      expect(under('AF_UNIX AF_INET AF_INET6').status).not.toBe(0)
      expect(under(families!).stdout).toBe('true\n')
    },
  )

  /** The unit with the paths of this test instead of /opt/stithy, which does not exist here. */
  function unitHere(): string {
    const folder = mkdtempSync(join(tmpdir(), 'stithy-unit-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'stithy.service')
    writeFileSync(file, read('packaging/stithy.service').replaceAll('/opt/stithy', root))
    return file
  }

  test.skipIf(!hasAnalyze)('systemd-analyze verify accepts the unit (skipped: needs systemd-analyze)', () => {
    const { status, stderr, stdout } = spawnSync('systemd-analyze', ['verify', '--man=no', unitHere()], {
      encoding: 'utf8',
    })
    expect({ status, stderr, stdout }).toEqual({ status: 0, stderr: '', stdout: '' })
  })

  test.skipIf(!hasAnalyze)(
    'systemd-analyze rates the exposure of the unit as OK (skipped: needs systemd-analyze)',
    () => {
      const { stdout, status } = spawnSync(
        'systemd-analyze',
        ['security', '--offline=yes', '--threshold=30', '--no-pager', unitHere()],
        { encoding: 'utf8' },
      )
      expect(status, stdout).toBe(0)
    },
  )
})
