import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually, withEnoughTime } from '../../../test/waiting.ts'
import { Git } from '../git.ts'
import { TestGit } from '../testing.ts'
import type { Child } from './child.ts'
import { Runner } from './client.ts'
import type { Greeting } from './protocol.ts'
import { startRunner } from './start.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

/** All descendants of a process, by id. Children of git have their own process groups, but keep their parent. */
const below = (pid: number): number[] => {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid=,stat='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((row) => row.trim().split(/\s+/))
  const children = rows
    .filter(([, parent, stat]) => Number(parent) === pid && !stat!.startsWith('Z'))
    .map(([child]) => Number(child))
  return children.flatMap((child) => [child, ...below(child)])
}
const isAlive = (pid: number) => {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
const until = (condition: () => boolean) => eventually(() => expect(condition()).toBe(true))
const output = async (argv: string[], runner = world.runner) => {
  const child = await runner.start(argv)
  return { text: Buffer.concat(await child.toArray()).toString(), exit: await child.done }
}

/** A git alias is the only way to run another program: the runner starts only git. */
const shell = (script: string) => ['-c', `alias.sh=!${script}`, 'sh']

test('a git process returns its output, exit code and messages', async () => {
  expect(await output(['version'])).toMatchObject({
    text: expect.stringMatching(/^git version/),
    exit: { code: 0, signal: null, stderr: '', timedOut: false },
  })
  expect(await output(shell('echo out; echo err >&2; exit 7'))).toMatchObject({
    text: 'out\n',
    exit: { code: 7, stderr: 'err\n' },
  })
})

test('a git process does not get the environment of the service', async () => {
  process.env['STITHY_SECRET_TEST'] = 'secret'
  const { text } = await output(shell('env'))
  expect(text).toContain('GIT_TERMINAL_PROMPT=0')
  expect(text).not.toContain('secret')
})

test('20 MB pass through a git process unchanged', async () => {
  const bytes = randomBytes(20 * 1024 * 1024)
  const child = await world.runner.start(shell('cat'), { stdin: true })
  child.end(bytes)
  expect(Buffer.concat(await child.toArray()).equals(bytes)).toBe(true)
  expect(await child.done).toMatchObject({ code: 0 })
})

test('a git process blocks while its output is not read', async () => {
  const child = await world.runner.start(shell('head -c 50000000 /dev/zero; echo done >&2'))
  await sleep(300)
  expect(child.movedBytes).toBeLessThan(2_000_000)
  child.resume()
  expect(await child.done).toMatchObject({ stderr: 'done\n' })
  expect(child.movedBytes).toBeGreaterThan(50_000_000)
})

test('a git process that ends without reading its input succeeds', async () => {
  const child = await world.runner.start(shell('echo early'), { stdin: true })
  child.end(Buffer.alloc(10_000_000))
  expect(Buffer.concat(await child.toArray()).toString()).toBe('early\n')
  expect(await child.done).toMatchObject({ code: 0 })
})

test('the end of a git process that ended before the notice of its start arrived is not missed', async () => {
  // A runner whose notices are late, as on a busy machine. It accepts input for a while after the end, as the real one.
  let control: Socket | undefined
  const path = join(world.folder, 'late-runner.sock')
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.once('data', (greeting) => {
      const { kind, id } = JSON.parse(greeting.toString()) as Greeting & { id: number }
      if (kind === 'control') {
        control = socket
        return socket.write('{"ready":true,"pid":1}\n')
      }
      socket.resume().end()
      setTimeout(() => {
        control!.write(`${JSON.stringify({ id, started: 1 })}\n`)
        control!.write(`${JSON.stringify({ id, exit: { code: 128, signal: null, stderr: '', timedOut: false } })}\n`)
      }, 100)
    })
  })
  server.listen(path)
  await once(server, 'listening')
  const runner = await Runner.connect(path)
  const child = await runner.start(['cat-file'], { stdin: true })
  child.write('a request')
  expect(await child.toArray()).toEqual([])
  expect(await child.done).toMatchObject({ code: 128 })
  control!.destroy()
  server.close()
})

test('the output of a git process that ignores its input is complete', async () => {
  const child = await world.runner.start(shell('head -c 100000 /dev/zero; echo end'), { stdin: true })
  const { code } = await child.done
  for (let piece = 0; piece < 20; piece++) {
    child.write(Buffer.alloc(64 * 1024))
    await sleep(1)
  }
  const output = Buffer.concat(await child.toArray())
  expect([code, output.length, output.subarray(-4).toString()]).toEqual([0, 100_004, 'end\n'])
})

test('the runner keeps 64 KiB of the messages of a git process', async () => {
  const { exit } = await output(shell('head -c 3000000 /dev/zero | tr "\\0" x >&2'))
  expect(exit).toMatchObject({ code: 0, stderr: 'x'.repeat(64 * 1024) })
})

/** Increasing timeouts, for a machine on which the child is not ready before a short one ends. */
const deadlinesMs = [500, 5_000, 50_000]

test('a git process and its children end at the timeout', () =>
  withEnoughTime(deadlinesMs, async (timeoutMs) => {
    const child = await world.runner.start(shell('sleep 1000 & echo $$ $!; wait'), { timeoutMs })
    const family = Buffer.concat(await child.toArray())
      .toString()
      .trim()
      .split(' ')
      .map(Number)
    expect(family).toHaveLength(2)
    expect(await child.done).toMatchObject({ timedOut: true, signal: 'SIGTERM' })
    await until(() => ![child.pid, ...family].some(isAlive))
  }))

test('a git process that ignores SIGTERM is killed', () =>
  withEnoughTime(deadlinesMs, async (timeoutMs) => {
    const script = 'trap "" TERM; echo ready; while :; do sleep 0.1; done'
    const child = await world.runner.start(shell(script), { timeoutMs })
    expect(Buffer.concat(await child.toArray()).toString()).toBe('ready\n')
    expect(await child.done).toMatchObject({ timedOut: true, signal: 'SIGKILL' })
    await until(() => !isAlive(child.pid))
  }))

test('destroying its stream ends a git process', async () => {
  const child = await world.runner.start(shell('sleep 1000'))
  child.destroy()
  expect(await child.done).toMatchObject({ signal: 'SIGTERM' })
})

test('a disconnected client ends its own git processes and no others', async () => {
  const other = await Runner.connect(world.process.socketPath)
  const [theirs, ours] = [await other.start(shell('sleep 1000')), await world.runner.start(shell('sleep 1000'))]
  await other[Symbol.asyncDispose]()
  await until(() => !isAlive(theirs.pid))
  expect(isAlive(ours.pid)).toBe(true)
  ours.destroy()
  await ours.done
})

test('the number of short git processes is limited, without blocking helpers and transfers', async () => {
  const stuck = Array.from({ length: 40 }, () => world.runner.start(shell('sleep 1000'), { owner: 'greedy' }))
  // The kernel decides which of them is first: each uses its own connection.
  const running: Child[] = []
  for (const start of stuck) void start.then((child) => running.push(child))
  const slots = Math.max(4, 2 * availableParallelism())
  await until(() => running.length >= slots)
  await sleep(200)
  expect(running.length).toBe(slots)
  const helper = await world.runner.start(['version'], { lane: 'helper' })
  expect(Buffer.concat(await helper.toArray()).toString()).toContain('git version')
  const waiting = output(['version'])
  let served = false
  void waiting.then(() => {
    served = true
  })
  // Slots become free one after the other. Kills use another connection and may overtake the request, but only briefly.
  for (let ended = 0; !served && ended < running.length; ended++) {
    running[ended]!.kill('SIGKILL')
    await until(() => served || running.length > slots + ended)
  }
  expect((await waiting).exit.code).toBe(0)
  expect(running.length).toBeLessThan(40)
  await Promise.all(stuck.map(async (start) => (await start).kill('SIGKILL')))
  await until(() => below(world.process.pid).length === 0)
})

describe('a killed runner', () => {
  test('a killed runner rejects what runs, leaves no child, and starts what comes meanwhile after its restart', async () => {
    const socketPath = `${world.folder}/second.sock`
    const first = await startRunner({ socketPath })
    await using runner = await Runner.connect(socketPath, { restartMs: 60_000 })
    await using impatient = await Runner.connect(socketPath, { restartMs: 0 })
    const child = await runner.start(shell('sleep 1000'))
    child.resume()
    process.kill(first.pid, 'SIGKILL')

    await expect(child.done).rejects.toMatchObject({ name: 'Failure', kind: 'unavailable' })
    await first.ended
    const waiting = output(['version'], runner)
    await expect(impatient.start(['version'])).rejects.toMatchObject({ kind: 'unavailable' })
    await expect(runner.ping()).rejects.toMatchObject({ kind: 'unavailable' })
    await until(() => !isAlive(child.pid))

    await using _second = await startRunner({ socketPath })
    expect((await waiting).exit.code).toBe(0)
  })

  test('a runner and its children end with its parent', async () => {
    const socketPath = `${world.folder}/third.sock`
    const started = await startRunner({ socketPath })
    const runner = await Runner.connect(socketPath)
    const child = await runner.start(shell('sleep 1000'))
    child.done.catch(() => {})
    await started[Symbol.asyncDispose]()
    await until(() => !isAlive(started.pid) && !isAlive(child.pid))
    await runner[Symbol.asyncDispose]()
  })

  test('a socket path above 107 bytes is reported', async () => {
    await expect(startRunner({ socketPath: `/tmp/${'x'.repeat(110)}` })).rejects.toThrow('107 bytes')
  })
})

test('server processes share one empty repository, so that killed ones leave none in the folder for temporary files', async () => {
  await using second = await Runner.connect(world.process.socketPath)
  const other = new Git(second)
  const names = () => readdirSync(tmpdir()).filter((name) => name.startsWith('stithy-empty-'))
  const before = names()
  const paths = await Promise.all([world.git.emptyDir(), other.emptyDir()])
  expect(paths).toEqual(Array(2).fill(join(world.folder, 'empty.git')))
  expect(names().filter((name) => !before.includes(name))).toEqual([])
  await other[Symbol.asyncDispose]()
  expect(execFileSync('git', ['-C', paths[0]!, 'for-each-ref'], { encoding: 'utf8' })).toBe('')
})

test('the empty repository is made after all once its folder can be written to', async () => {
  const folder = join(world.folder, 'later')
  const runner = Object.create(world.runner, { socketPath: { value: join(folder, 'runner.sock') } }) as Runner
  const other = new Git(runner)
  await expect(other.emptyDir()).rejects.toThrow('ENOENT')
  mkdirSync(folder)
  expect(await other.emptyDir()).toBe(join(folder, 'empty.git'))
})
