import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { repositoryOf } from '../../src/modules/lifecycle/remotes/testing.ts'
import { beginOfPush } from '../begun-push.ts'
import { hasSsh, sshWords, withKey } from '../ssh.ts'
import { waitMs } from '../waiting.ts'
import { temporaryFolder, test, unique, World } from '../world.ts'

/** A push over SSH of which a part has arrived, and the temporary files of its repository. */
async function beginPush(world: World, folder: string, objects: number) {
  const key = await withKey(folder, world.root)
  const { json } = await world.root.post('/projects', { path: unique('cut'), initialize_with_readme: true })
  const objectDir = join(await repositoryOf(world, json.id), 'objects')
  const temporary = async () => (await readdir(objectDir)).filter((name) => name.startsWith('tmp_'))
  const client = spawn('ssh', sshWords(world, key, `git-receive-pack '${json.path_with_namespace}.git'`))
  client.stdin.on('error', () => {})
  client.stdout.resume()
  client.stdin.write(beginOfPush(objects))
  await expect.poll(temporary, { timeout: waitMs }).toHaveLength(1)
  return { client, temporary }
}

describe.skipIf(!hasSsh)('a push over SSH that is cut off (needs OpenSSH) leaves no file', () => {
  test.for([7, 1000])('of a client that is killed, with %i objects', async (objects, { world }) => {
    await using folder = await temporaryFolder()
    const { client, temporary } = await beginPush(world, folder.path, objects)
    client.kill('SIGKILL')
    await expect.poll(temporary, { timeout: waitMs }).toEqual([])
  })

  test('of a client that sends a few bytes again and again', async () => {
    await using strict = await World.start({}, { sshLimits: { pace: { graceMs: 1000, bytesPerSecond: 2048 } } })
    await using folder = await temporaryFolder()
    const { client, temporary } = await beginPush(strict, folder.path, 1000)
    let said = ''
    client.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    // A blob of 65,535 bytes, stored without compression.
    client.stdin.write(Buffer.from('bfff1f7801' + '00ffff0000', 'hex'))
    const trickle = setInterval(() => client.stdin.write('x'), 100)
    await once(client, 'close').finally(() => clearInterval(trickle))
    expect(said).toContain('Stithy: The connection is too slow.')
    await expect.poll(temporary, { timeout: waitMs }).toEqual([])
  })

  test('of a client that stalls', async () => {
    await using brief = await World.start({}, { sshLimits: { stalledMs: 2000 } })
    await using folder = await temporaryFolder()
    const { client, temporary } = await beginPush(brief, folder.path, 7)
    await once(client, 'close')
    await expect.poll(temporary, { timeout: waitMs }).toEqual([])
  })
})
