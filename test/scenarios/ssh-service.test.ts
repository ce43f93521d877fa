import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { freePort, Launched, temporaryFolder } from '../../src/processes/testing/launch.ts'
import { bin, freshEnv } from '../service.ts'
import { hasSsh, sshWords, withKey } from '../ssh.ts'
import { eventually, waitMs } from '../waiting.ts'
import { World } from '../world.ts'

const run = promisify(execFile)

const hostKeys = async (port: string, times: number): Promise<Set<string>> => {
  const keys = new Set<string>()
  for (let n = 0; n < times; n++)
    for (const type of ['ed25519', 'ecdsa'])
      keys.add((await run('ssh-keyscan', ['-p', port, '-t', type, '127.0.0.1'])).stdout.trim())
  return keys
}

describe.skipIf(!hasSsh)('SSH of the whole service (needs OpenSSH)', () => {
  test('all workers have the same host keys, after a restart too', async () => {
    const env = {
      ...(await freshEnv()),
      STITHY_SSH_PORT: String(await freePort()),
      STITHY_PROCESSES: '3',
    }
    const first = new Launched(['serve'], env, { file: bin })
    await first.ready()
    expect(first.out).toContain(`ssh://git@127.0.0.1:${env.STITHY_SSH_PORT}/root/hello.git`)
    const keys = await hostKeys(env.STITHY_SSH_PORT, 6)
    const types = ['ssh-ed25519 AAAA', 'ecdsa-sha2-nistp256 AAAA']
    expect([...keys]).toEqual(types.map((type) => expect.stringContaining(type)))
    for (const name of ['host_ed25519', 'host_ecdsa']) {
      const { mode } = await stat(join(env.STITHY_DATA_DIR, 'ssh', name))
      expect(mode & 0o777).toBe(0o600)
    }
    first.process.kill('SIGTERM')
    expect(await first.exit).toBe(0)

    const second = new Launched(['serve'], env, { file: bin })
    await second.ready()
    expect(await hostKeys(env.STITHY_SSH_PORT, 2)).toEqual(keys)
  })

  test('a start with a taken SSH port is refused with the name of its setting', async () => {
    const port = await freePort()
    const env = {
      STITHY_DATA_DIR: await temporaryFolder(),
      STITHY_HTTP_PORT: String(await freePort()),
      STITHY_SSH_PORT: String(port),
    }
    const taken = createServer().listen(port, '127.0.0.1')
    await once(taken, 'listening')
    const refused = new Launched(['serve'], env, { file: bin })
    expect(await refused.exit).toBe(1)
    taken.close()
    expect(refused.err).toContain(
      `Another program already listens on 127.0.0.1:${port}: stop it, or set STITHY_SSH_PORT.`,
    )
  })

  test('a stop waits for a running SSH push and refuses new connections', async () => {
    const world = await World.start()
    const folder = await temporaryFolder()
    const key = await withKey(folder, world.root)
    const project = await world.project()
    const pushing = spawn('ssh', sshWords(world, key, `git-receive-pack '${project.full_path}.git'`))
    const ended = once(pushing, 'close')
    await once(pushing.stdout, 'data')
    const stopped = world.app.stop(waitMs)
    await eventually(() => expect(run('ssh', sshWords(world, key))).rejects.toThrow(/refused/))
    pushing.stdin.end('0000')
    expect((await ended)[0]).toBe(0)
    await stopped
    await world.db[Symbol.asyncDispose]()
  })
})
