import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { hasSsh, type KeyPair, keyPair, ssh, sshWith, sshWords, withKey } from '../ssh.ts'
import { temporaryFolder, test, World } from '../world.ts'

/** What a well-behaved client does not send. */
type Internals = {
  readonly _protocol: {
    session(channel: number, window: number, packetBytes: number): void
    exec(channel: number, command: string, wantsReply: boolean): void
    channelClose(channel: number): void
  }
}

/** No connection reaches its maximum age while these tests run. */
const longMs = 60 * 60_000

const connectTo = async (at: World, greeting: string): Promise<{ socket: Socket; closed: Promise<unknown> }> => {
  const socket = connect(at.config.sshPort, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(greeting)
  socket.resume()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await new Promise((resolve) => socket.once('connect', resolve))
  return { socket, closed }
}

/** A client that has signed in and then sends nothing. */
async function silent(at: World, key: KeyPair): Promise<{ client: ssh2.Client; closed: Promise<unknown> }> {
  const client = new ssh2.Client()
  client.on('error', () => {})
  const ready = once(client, 'ready')
  client.connect({ port: at.config.sshPort, username: 'git', privateKey: await readFile(key.file), readyTimeout: 0 })
  await ready
  return { client, closed: new Promise<void>((resolve) => client.once('close', () => resolve())) }
}

describe.skipIf(!hasSsh)('idle SSH connections (need OpenSSH)', () => {
  test.for(['', 'SSH-2.0-slow\r\n', 'GET / HTTP/1.1\r\n\r\n'])(
    'the server disconnects a client that sends %j and nothing more',
    async (greeting) => {
      await using brief = await World.start({}, { sshLimits: { signInMs: 300 } })
      const { closed } = await connectTo(brief, greeting)
      await closed
    },
  )

  test('the server disconnects a signed-in SSH client after the idle timeout', async () => {
    await using brief = await World.start({}, { sshLimits: { idleMs: 300 } })
    await using folder = await temporaryFolder()
    const { closed } = await silent(brief, await withKey(folder.path, brief.root))
    await closed
  })

  test('an SSH push that stalls is ended and creates no project', async () => {
    await using brief = await World.start({}, { sshLimits: { stalledMs: 300 } })
    await using folder = await temporaryFolder()
    const key = await withKey(folder.path, brief.root)
    const project = await brief.project()
    // One to an existing repository, one to a path where the push would create a project.
    for (const path of [project.full_path, 'root/not-there-yet'])
      await once(spawn('ssh', sshWords(brief, key, `git-receive-pack '${path}.git'`)), 'close')
    expect((await brief.root.get('/projects/root%2Fnot-there-yet')).status).toBe(404)
  })
})

describe.skipIf(!hasSsh)('SSH limits (need OpenSSH)', () => {
  let strict: World
  let usual: World
  beforeAll(async () => {
    const strictLimits = {
      maxUnauthenticated: 5,
      maxAttempts: 3,
      maxSessions: 2,
      maxIdle: 3,
      signInMs: longMs,
      idleMs: longMs,
    }
    strict = await World.start({}, { sshLimits: strictLimits })
    usual = await World.start({}, { sshLimits: { signInMs: longMs } })
  })
  afterAll(async () => {
    await strict?.[Symbol.asyncDispose]()
    await usual?.[Symbol.asyncDispose]()
  })

  test.for([
    ['a limit of five connections without a key', () => strict],
    ['the default limits', () => usual],
  ] as const)('500 connections without a key do not block other clients, with %s', async ([, place]) => {
    await using folder = await temporaryFolder()
    const at = place()
    const key = await withKey(folder.path, at.root)
    const greeting = (n: number) => (n % 2 ? '' : 'SSH-2.0-slow\r\n')
    const stalled = await Promise.all(Array.from({ length: 500 }, (_, n) => connectTo(at, greeting(n))))
    expect((await ssh(at, key)).code).toBe(0)
    expect((await at.root.get('/user')).status).toBe(200)
    for (const { socket } of stalled) socket.destroy()
  })

  test('idle connections of a user at the limit are closed, not those of other users', async () => {
    await using folder = await temporaryFolder()
    const [ann, bob] = [
      await withKey(folder.path, await strict.user()),
      await withKey(folder.path, await strict.user()),
    ]
    const first = await silent(strict, bob)
    const crowd = [await silent(strict, ann), await silent(strict, ann), await silent(strict, ann)]
    await crowd[0]!.closed
    // The others are open: they still run a command.
    for (const { client } of [first, crowd[1]!, crowd[2]!]) {
      const channel = await new Promise<ssh2.ClientChannel>((resolve, reject) =>
        client.exec('hello', (error, opened) => (error ? reject(error) : resolve(opened))),
      )
      await new Promise<void>((resolve) => channel.resume().stdout.on('close', () => resolve()))
    }
    for (const { client } of [first, ...crowd]) client.end()
  })

  test('an SSH connection is closed after three refused keys', async () => {
    await using folder = await temporaryFolder()
    const keys = await Promise.all(Array.from({ length: 5 }, () => keyPair(folder.path)))
    const good = await withKey(folder.path, strict.root)
    const offered = [...keys, good].flatMap(({ file }) => ['-i', file])
    expect((await sshWith(strict, keys[0]!, offered, 'git')).code).toBe(255)
    expect((await sshWith(strict, good, [], 'git')).code).toBe(0)
  })

  test('a session that is closed again and again leaves room for no further command', async () => {
    await using folder = await temporaryFolder()
    const { client } = await silent(strict, await withKey(folder.path, strict.root))
    const project = await strict.project()
    // Opens a session, whose request is refused.
    await expect(
      new Promise((resolve, reject) => client.subsys('none', (error) => (error ? reject(error) : resolve(0)))),
    ).rejects.toThrow()
    const { _protocol } = client as unknown as { _protocol: { channelClose(channel: number): void } }
    for (let times = 0; times < 5; times++) _protocol.channelClose(0)
    const opened = (): Promise<boolean> =>
      new Promise((resolve) =>
        client.exec(`git-receive-pack '${project.full_path}.git'`, (error) => resolve(error === undefined)),
      )
    expect([await opened(), await opened(), await opened(), await opened()]).toEqual([true, true, false, false])
    client.end()
  })

  test.for([0, 1])('a client that takes packets of %i bytes is disconnected', async (bytes) => {
    await using folder = await temporaryFolder()
    const key = await withKey(folder.path, strict.root)
    const { client, closed } = await silent(strict, key)
    const { _protocol } = client as unknown as Internals
    _protocol.session(0, 1024 * 1024, bytes)
    _protocol.exec(0, 'hello', false)
    await closed
    expect((await ssh(strict, key)).code).toBe(0)
  })

  test('a client that opens and closes sessions without a command is disconnected', async () => {
    await using folder = await temporaryFolder()
    const key = await withKey(folder.path, strict.root)
    const { client, closed } = await silent(strict, key)
    const { _protocol } = client as unknown as Internals
    for (let id = 0; id < 200; id++) {
      _protocol.session(id, 1024 * 1024, 32 * 1024)
      _protocol.channelClose(id)
    }
    await closed
    expect((await ssh(strict, key)).code).toBe(0)
  })

  test('an SSH connection runs at most two commands at a time', async () => {
    await using folder = await temporaryFolder()
    const key = await withKey(folder.path, strict.root)
    const project = await strict.project()
    const shared = ['-o', `ControlPath=${join(folder.path, 'master')}`]
    await sshWith(strict, key, [...shared, '-o', 'ControlMaster=auto', '-o', 'ControlPersist=300'], 'git')
    const command = `git-receive-pack '${project.full_path}.git'`
    const running = [0, 1].map(() => spawn('ssh', [...shared, ...sshWords(strict, key, command)]))
    await Promise.all(running.map(({ stdout }) => once(stdout, 'data')))
    // The client then tries a new connection.
    expect((await sshWith(strict, key, shared, 'git')).err).toContain('refused')
    for (const { stdin } of running) stdin.end('0000')
    await Promise.all(running.map((each) => once(each, 'close')))
    expect((await sshWith(strict, key, shared, 'git')).err).toBe('')
    await sshWith(strict, key, [...shared, '-O', 'exit'], 'git')
  })
})
