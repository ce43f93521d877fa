import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually, withEnoughTime } from '../../../test/waiting.ts'
import { TestGit } from '../testing.ts'
import type { Child } from './child.ts'
import { Runner } from './client.ts'
import { startRunner } from './start.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

/** Everything below a process, by id. Git's children are in groups of their own, but keep their parent. */
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

/** An alias of git's is the one way to a program of our choice: the runner starts nothing but git. */
const shell = (script: string) => ['-c', `alias.sh=!${script}`, 'sh']

test('a child says what it has to say and how it ended', async () => {
  expect(await output(['version'])).toMatchObject({
    text: expect.stringMatching(/^git version/),
    exit: { code: 0, signal: null, stderr: '', timedOut: false },
  })
  expect(await output(shell('echo out; echo err >&2; exit 7'))).toMatchObject({
    text: 'out\n',
    exit: { code: 7, stderr: 'err\n' },
  })
})

test('a child sees nothing of our environment', async () => {
  process.env['STITHY_SECRET_TEST'] = 'secret'
  const { text } = await output(shell('env'))
  expect(text).toContain('GIT_TERMINAL_PROMPT=0')
  expect(text).not.toContain('secret')
})

test('20 MB go in and come out as they were', async () => {
  const bytes = randomBytes(20 * 1024 * 1024)
  const child = await world.runner.start(shell('cat'), { stdin: true })
  child.end(bytes)
  expect(Buffer.concat(await child.toArray()).equals(bytes)).toBe(true)
  expect(await child.done).toMatchObject({ code: 0 })
})

test('a reader that does not read makes the child wait', async () => {
  const child = await world.runner.start(shell('head -c 50000000 /dev/zero; echo done >&2'))
  await sleep(300)
  expect(child.movedBytes).toBeLessThan(2_000_000)
  child.resume()
  expect(await child.done).toMatchObject({ stderr: 'done\n' })
  expect(child.movedBytes).toBeGreaterThan(50_000_000)
})

test('a child that ends without reading its input is no error', async () => {
  const child = await world.runner.start(shell('echo early'), { stdin: true })
  child.end(Buffer.alloc(10_000_000))
  expect(Buffer.concat(await child.toArray()).toString()).toBe('early\n')
  expect(await child.done).toMatchObject({ code: 0 })
})

test('what a child said before it left its input unread is heard, however late', async () => {
  const child = await world.runner.start(shell('head -c 100000 /dev/zero; echo end'), { stdin: true })
  const { code } = await child.done
  for (let piece = 0; piece < 20; piece++) {
    child.write(Buffer.alloc(64 * 1024))
    await sleep(1)
  }
  const said = Buffer.concat(await child.toArray())
  expect([code, said.length, said.subarray(-4).toString()]).toEqual([0, 100_004, 'end\n'])
})

test('of endless complaints, 64 KiB are kept', async () => {
  const { exit } = await output(shell('head -c 3000000 /dev/zero | tr "\\0" x >&2'))
  expect(exit).toMatchObject({ code: 0, stderr: 'x'.repeat(64 * 1024) })
})

/** Longer and longer deadlines, for a machine on which the child does not get as far as it should before a short one. */
const deadlinesMs = [500, 5_000, 50_000]

test('a child and its children end at the deadline', () =>
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

test('a child that ignores the first signal is killed by the second', () =>
  withEnoughTime(deadlinesMs, async (timeoutMs) => {
    const script = 'trap "" TERM; echo ready; while :; do sleep 0.1; done'
    const child = await world.runner.start(shell(script), { timeoutMs })
    expect(Buffer.concat(await child.toArray()).toString()).toBe('ready\n')
    expect(await child.done).toMatchObject({ timedOut: true, signal: 'SIGKILL' })
    await until(() => !isAlive(child.pid))
  }))

test('a stream that is destroyed ends its child', async () => {
  const child = await world.runner.start(shell('sleep 1000'))
  child.destroy()
  expect(await child.done).toMatchObject({ signal: 'SIGTERM' })
})

test('a client that goes takes its children with it, and leaves those of others', async () => {
  const other = await Runner.connect(world.process.socketPath)
  const [theirs, ours] = [await other.start(shell('sleep 1000')), await world.runner.start(shell('sleep 1000'))]
  await other[Symbol.asyncDispose]()
  await until(() => !isAlive(theirs.pid))
  expect(isAlive(ours.pid)).toBe(true)
  ours.destroy()
  await ours.done
})

test('short children are bounded in number; helpers and transfers do not wait for them', async () => {
  const stuck = Array.from({ length: 40 }, () => world.runner.start(shell('sleep 1000'), { owner: 'greedy' }))
  // Which of them come first is for the kernel to say: each is one connection.
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
  // One slot after the other becomes free. Kills travel on another connection and may overtake the request, but not by far.
  for (let ended = 0; !served && ended < running.length; ended++) {
    running[ended]!.kill('SIGKILL')
    await until(() => served || running.length > slots + ended)
  }
  expect((await waiting).exit.code).toBe(0)
  expect(running.length).toBeLessThan(40)
  await Promise.all(stuck.map(async (start) => (await start).kill('SIGKILL')))
  await until(() => below(world.process.pid).length === 0)
})

describe('a runner that is killed', () => {
  test('rejects what is pending, leaves no child, and serves again once it is back', async () => {
    const socketPath = `${world.folder}/second.sock`
    const first = await startRunner({ socketPath })
    await using runner = await Runner.connect(socketPath)
    const child = await runner.start(shell('sleep 1000'))
    child.resume()
    process.kill(first.pid, 'SIGKILL')

    await expect(child.done).rejects.toMatchObject({ name: 'Failure', kind: 'unavailable' })
    await first.ended
    await expect(runner.start(['version'])).rejects.toMatchObject({ kind: 'unavailable' })
    await until(() => !isAlive(child.pid))

    await using _second = await startRunner({ socketPath })
    expect((await output(['version'], runner)).exit.code).toBe(0)
  })

  test('ends with its parent, and its children with it', async () => {
    const socketPath = `${world.folder}/third.sock`
    const started = await startRunner({ socketPath })
    const runner = await Runner.connect(socketPath)
    const child = await runner.start(shell('sleep 1000'))
    child.done.catch(() => {})
    await started[Symbol.asyncDispose]()
    await until(() => !isAlive(started.pid) && !isAlive(child.pid))
    await runner[Symbol.asyncDispose]()
  })

  test('says so when its socket path is too long', async () => {
    await expect(startRunner({ socketPath: `/tmp/${'x'.repeat(110)}` })).rejects.toThrow('107 bytes')
  })
})
