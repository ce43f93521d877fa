import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import ssh2 from 'ssh2'
import { expect } from 'vitest'
import { type KeyPair, withKey } from './ssh.ts'
import type { World } from './world.ts'

export const packet = (text: string): string => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`

/** A command that stays open, and what it has printed. */
export async function session(world: World, key: KeyPair, command: string, env: Record<string, string> = {}) {
  const client = new ssh2.Client()
  client.on('error', () => {})
  const ready = once(client, 'ready')
  client.connect({ port: world.config.sshPort, username: 'git', privateKey: await readFile(key.file) })
  await ready
  const channel = await new Promise<ssh2.ClientChannel>((resolve, reject) =>
    client.exec(command, { env }, (error, opened) => (error ? reject(error) : resolve(opened))),
  )
  const opened = { channel, received: '', messages: '', isClosed: false, end: () => client.end() }
  channel.on('data', (chunk: Buffer) => {
    opened.received += chunk.toString('latin1')
  })
  channel.stderr.on('data', (chunk: Buffer) => {
    opened.messages += chunk.toString('latin1')
  })
  channel.on('close', () => {
    opened.isClosed = true
  })
  return opened
}

/** A session of protocol 2 that stays open. `refs` resolves with what the service answers to another request for the list of refs. */
export async function fetchSession(world: World, key: KeyPair, path: string) {
  const opened = await session(world, key, `git-upload-pack '${path}.git'`, { GIT_PROTOCOL: 'version=2' })
  const answer = () => expect.poll(() => opened.isClosed || opened.received.endsWith('0000')).toBe(true)
  await answer()
  return {
    async refs(prefix: string): Promise<string> {
      opened.received = ''
      if (!opened.isClosed)
        opened.channel.write(`${packet('command=ls-refs\n')}0001${packet(`ref-prefix ${prefix}\n`)}0000`)
      await answer()
      return opened.isClosed ? opened.messages : opened.received
    },
    end: opened.end,
  }
}

/** The part of ssh2 that sends a command in a session which has one, as no client of it does. */
type Sender = { _client: { _protocol: { exec(channel: number, command: string, wantsReply: boolean): void } } }

/**
 * Begins a push that creates the branch `late` at an object which the project has; `complete` sends all of it. `another` is sent as a
 * second command of the session.
 */
export async function pushSession(world: World, key: KeyPair, path: string, oid: string, another?: string) {
  const opened = await session(world, key, `git-receive-pack '${path}.git'`)
  await expect.poll(() => opened.received.endsWith('0000')).toBe(true)
  if (another !== undefined) {
    const { _client, outgoing } = opened.channel as unknown as Sender & { outgoing: { id: number } }
    _client._protocol.exec(outgoing.id, another, false)
  }
  return {
    async complete(): Promise<string> {
      const pack = Buffer.concat([Buffer.from('PACK'), Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])])
      opened.channel.write(`${packet(`${'0'.repeat(40)} ${oid} refs/heads/late\0report-status`)}0000`)
      opened.channel.end(Buffer.concat([pack, createHash('sha1').update(pack).digest()]))
      await expect.poll(() => opened.isClosed).toBe(true)
      opened.end()
      return opened.received + opened.messages
    },
  }
}

/** A developer with a key, kept in the folder, of a project with one branch: `main` at `at`, the path of all branches. */
export async function developerIn(world: World, folder: string) {
  const ann = await world.user()
  const key = await withKey(folder, ann)
  const project = await world.project({ initialize_with_readme: true, members: [[ann, 'developer']] })
  const at = `/projects/${project.id}/repository/branches`
  const [main] = (await world.root.get(at)).json
  return { ann, key, project, at, main }
}
