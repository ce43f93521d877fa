import { spawn } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { type ClientRequest, request } from 'node:http'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { repositoryOf } from '../../src/modules/lifecycle/remotes/testing.ts'
import { beginOfPush } from '../begun-push.ts'
import { hasSsh, sshWords, withKey } from '../ssh.ts'
import { waitMs } from '../waiting.ts'
import { temporaryFolder, World } from '../world.ts'

/** Sends the begin of a push, and leaves the connection open. */
type Begin = (world: World, path: string) => Promise<void>

const overSsh: Begin = async (world, path) => {
  const folder = await temporaryFolder()
  const key = await withKey(folder.path, world.root)
  const client = spawn('ssh', sshWords(world, key, `git-receive-pack '${path}.git'`))
  onTestFinished(async () => {
    client.kill('SIGKILL')
    await folder[Symbol.asyncDispose]()
  })
  client.stdin.on('error', () => {})
  client.stdout.resume()
  client.stdin.write(beginOfPush(1000))
}

const overHttp: Begin = async (world, path) => {
  const sent: ClientRequest = request(`${world.origin}/${path}.git/git-receive-pack`, {
    method: 'POST',
    auth: `root:${world.root.token}`,
    headers: { 'content-type': 'application/x-git-receive-pack-request' },
  })
  sent.on('error', () => {})
  onTestFinished(() => void sent.destroy())
  sent.write(beginOfPush(1000))
}

describe.for([
  ['SSH (needs OpenSSH)', overSsh, hasSsh],
  ['HTTP', overHttp, true],
] as const)('over %s', ([, begin, isInstalled]) => {
  test.skipIf(!isInstalled)('a stop of the service in the middle of a push leaves no file of it', async () => {
    await using world = await World.start()
    const { json } = await world.root.post('/projects', { path: 'stopped', initialize_with_readme: true })
    const objectDir = join(await repositoryOf(world, json.id), 'objects')
    const temporary = async () => (await readdir(objectDir)).filter((name) => name.startsWith('tmp_'))
    await begin(world, json.path_with_namespace)
    await expect.poll(temporary, { timeout: waitMs }).toHaveLength(1)
    await world.app.stop(100)
    expect(await temporary()).toEqual([])
  })
})
