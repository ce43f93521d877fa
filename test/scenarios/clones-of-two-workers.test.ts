import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Client as Connection } from 'undici'
import { describe, expect, test } from 'vitest'
import { toEachWorker } from '../each-worker.ts'
import { RecordedPacks } from '../recorded-packs.ts'
import { freshEnv, type Service, serve } from '../service.ts'
import { git, temporaryFolder } from '../world.ts'

const path = '/root/large.git'
const line = (words: string) => `${(words.length + 4).toString(16).padStart(4, '0')}${words}`

/** Two workers, and a repository of 2 MB. */
async function twoWorkers(packs: RecordedPacks): Promise<{ service: Service; tip: string; folder: string }> {
  const env = { ...(await freshEnv()), STITHY_PROCESSES: '2', STITHY_LOG_LEVEL: 'info', PATH: packs.path }
  const service = await serve(env)
  const { id } = (await service.root.post('/projects', { path: 'large', visibility: 'public' })).json
  for (const name of ['a', 'b', 'c', 'd'])
    await service.root.post(`/projects/${id}/repository/files/${name}`, {
      branch: 'main',
      encoding: 'base64',
      content: randomBytes(500_000).toString('base64'),
      commit_message: name,
    })
  const branch = await service.root.get(`/projects/${id}/repository/branches/main`)
  return { service, tip: branch.json.commit.id, folder: join(env.STITHY_DATA_DIR, 'run') }
}

/** Asks for everything as a clone does. */
async function pack(worker: Connection, tip: string): Promise<Buffer> {
  const answer = await worker.request({
    method: 'POST',
    path: `${path}/git-upload-pack`,
    headers: { 'content-type': 'application/x-git-upload-pack-request', 'git-protocol': 'version=2' },
    body: `${line('command=fetch')}0001${line('ofs-delta')}${line(`want ${tip}\n`)}${line('done\n')}0000`,
  })
  return Buffer.from(await answer.body.arrayBuffer())
}

const isComplete = (bytes: Buffer): boolean => bytes.length > 2_000_000 && bytes.subarray(-4).toString() === '0000'

describe('clones that two worker processes serve', () => {
  test('equal ones at once share one pack and are complete', async () => {
    using packs = new RecordedPacks()
    const { service } = await twoWorkers(packs)
    packs.hold(true)
    const clones = Array.from({ length: 8 }, async () => {
      await using work = await temporaryFolder()
      const folder = join(work.path, 'clone.git')
      await git(work.path, 'clone', '--quiet', '--bare', `${service.origin}${path}`, folder)
      expect(await git(folder, 'fsck', '--full', '--strict')).toBe('')
      return await git(folder, 'rev-list', '--count', '--all')
    })
    await expect.poll(() => packs.ids).toHaveLength(1)
    packs.hold(false)
    expect(await Promise.all(clones)).toEqual(Array(8).fill('4'))
    expect(packs.ids).toHaveLength(1)
  })

  test('a clone at the other worker gets the pack that was just made, with the same bytes', async () => {
    using packs = new RecordedPacks()
    const { service, tip } = await twoWorkers(packs)
    const [one, other] = [...(await toEachWorker(service.launched, service.origin)).values()] as [
      Connection,
      Connection,
    ]
    const bytes = await pack(one, tip)
    expect(isComplete(bytes)).toBe(true)
    expect((await pack(other, tip)).equals(bytes)).toBe(true)
    expect(packs.ids).toHaveLength(1)
  })

  test.each([0, 1])('the clones of a worker are complete when the other is killed (%i)', async (index) => {
    using packs = new RecordedPacks()
    const { service, tip } = await twoWorkers(packs)
    const workers = [...(await toEachWorker(service.launched, service.origin))]
    const [[doomed, one], [, other]] = (index === 0 ? workers : workers.reverse()) as [
      [number, Connection],
      [number, Connection],
    ]
    packs.hold(true)
    const first = pack(one, tip).catch(() => undefined)
    await expect.poll(() => packs.ids).toHaveLength(1)
    const second = pack(other, tip)
    // The second has joined the first, and makes no pack of its own.
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(packs.ids).toHaveLength(1)
    process.kill(doomed, 'SIGKILL')
    await expect.poll(() => packs.ids).toHaveLength(2)
    packs.hold(false)
    expect(isComplete(await second)).toBe(true)
    expect(await first).toBeUndefined()
  })

  test('clones are complete when the git runner is killed, which fails no other request', async () => {
    using packs = new RecordedPacks()
    const { service, tip } = await twoWorkers(packs)
    const workers = [...(await toEachWorker(service.launched, service.origin)).values()]
    packs.hold(true)
    const clones = workers.map((worker) => pack(worker, tip))
    await expect.poll(() => packs.ids).toHaveLength(1)
    const [runner] = service.launched.named('stithy git runner')
    process.kill(runner!, 'SIGKILL')
    await expect.poll(() => service.launched.named('stithy git runner')).not.toContain(runner)
    // Archives are written by git, which no process can start now.
    const archive = await service.root.get('/projects/1/repository/archive.tar')
    expect(archive.status).toBe(200)
    await expect.poll(() => packs.ids).toHaveLength(2)
    packs.hold(false)
    for (const clone of clones) expect(isComplete(await clone)).toBe(true)
  })

  test('equal ones at once share one pack while other processes hang', async () => {
    using packs = new RecordedPacks()
    const { service, tip, folder } = await twoWorkers(packs)
    const workers = [...(await toEachWorker(service.launched, service.origin)).values()]
    // Processes are asked in the order of their names: the last one before these waits for the first.
    const hanging = [99999998, 99999999].map((id) => createServer().listen(join(folder, `fetches.${id}.sock`)))
    try {
      for (const bytes of await Promise.all(workers.map((worker) => pack(worker, tip))))
        expect(isComplete(bytes)).toBe(true)
      expect(packs.ids).toHaveLength(1)
    } finally {
      for (const server of hanging) server.close()
    }
  })

  test('a question that is none gets no answer', async () => {
    using packs = new RecordedPacks()
    const { service, tip, folder } = await twoWorkers(packs)
    const [worker] = [...(await toEachWorker(service.launched, service.origin)).values()] as [Connection]
    await pack(worker, tip)
    const sockets = readdirSync(folder).filter((name) => name.startsWith('fetches.'))
    expect(sockets).toHaveLength(1)
    for (const question of ['\n', '1 x\n', `1 ${'x'.repeat(5000)}`, 'GET / HTTP/1.1\r\n\r\n']) {
      const socket = connect(join(folder, sockets[0]!))
      socket.write(question)
      // It has heard, and does not answer.
      expect(await text(socket)).toBe('.')
    }
    expect(isComplete(await pack(worker, tip))).toBe(true)
  })
})
