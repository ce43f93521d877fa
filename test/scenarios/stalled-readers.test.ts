import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { testEnv } from '../../src/git/testing.ts'
import { type StoredProject, storedProject } from '../../src/modules/repository/commits/testing.ts'
import { withEnoughTime } from '../waiting.ts'
import { World } from '../world.ts'

const size = 64 * 1024 * 1024

/** Incompressible, and larger than the socket buffers of clients that do not read. */
function grow({ repository }: StoredProject): void {
  const made = `oid=$(head -c ${size} /dev/urandom | git -c core.compression=0 hash-object -w --stdin)
    printf '100644 blob %s\\tlarge\\n' $oid | git mktree`
  const tree = execFileSync('sh', ['-c', made], { cwd: repository.gitDir, env: testEnv }).toString().trim()
  repository.git('update-ref', 'refs/heads/main', repository.git('commit-tree', '-m', 'Large', tree))
}

const processesOn = ({ repository }: StoredProject, subcommand: string): string =>
  execFileSync('sh', ['-c', `ps -eo args | grep "[g]it.*${subcommand}" | grep -c ${repository.gitDir} || true`])
    .toString()
    .trim()

/** A raw client that has sent its request and not read any of the response. */
async function ask(world: World, path: string, body?: string): Promise<{ socket: Socket; closed: () => boolean }> {
  const { port } = new URL(world.origin)
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('error', () => {})
  socket.pause()
  let closed = false
  socket.on('close', () => {
    closed = true
  })
  const post = `content-type: application/x-git-upload-pack-request\r\ncontent-length: ${body?.length}\r\n`
  socket.write(
    `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1\r\nhost: x\r\nprivate-token: ${world.root.token}\r\n${body === undefined ? '' : post}\r\n${body ?? ''}`,
  )
  return { socket, closed: () => closed }
}

const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`

describe('clients that do not read the response', () => {
  test('a client that reads nothing is disconnected, and the work for it ends', async () => {
    await using world = await World.start({}, { httpLimits: { stalledMs: 600 } })
    const project = await storedProject(world)
    grow(project)
    const tip = project.repository.git('rev-parse', 'main')
    const reads: readonly (readonly [subcommand: string, path: string, body?: string])[] = [
      ['archive', `/api/v4/projects/${project.id}/repository/archive.tar?sha=main`],
      ['cat-file --end', `/api/v4/projects/${project.id}/repository/files/large/raw?ref=main`],
      [
        'upload-pack',
        `/${project.full_path}.git/git-upload-pack`,
        `${line(`want ${tip} side-band-64k\n`)}0000${line('done\n')}`,
      ],
    ]
    for (const [subcommand, path, body] of reads)
      await withEnoughTime([200, 2_000, 20_000], async (quietMs) => {
        const { socket, closed } = await ask(world, path, body)
        await expect.poll(() => processesOn(project, subcommand)).not.toBe('0')
        await expect.poll(() => processesOn(project, subcommand)).toBe('0')
        // Another process may follow the first.
        await sleep(quietMs)
        // The work ended before the client got everything: the system buffers a part, and nothing follows.
        let got = 0
        socket.on('data', (chunk: Buffer) => {
          got += chunk.length
        })
        socket.resume().end()
        await expect.poll(closed).toBe(true)
        expect(got, subcommand).toBeLessThan(size)
      })
  })

  test('a slow client is not disconnected while it reads', async () => {
    const limits = { stalledMs: 0 }
    await using world = await World.start({}, { httpLimits: limits })
    const project = await storedProject(world)
    grow(project)
    await withEnoughTime([600, 4_000, 20_000], async (stalledMs) => {
      limits.stalledMs = stalledMs
      const { socket, closed } = await ask(world, `/api/v4/projects/${project.id}/repository/archive.tar?sha=main`)
      let got = 0
      for (let times = 0; times < 30; times++) {
        await sleep(stalledMs / 6)
        got += (socket.read(256 * 1024) as Buffer | null)?.length ?? 0
      }
      expect(closed()).toBe(false)
      for await (const chunk of socket as AsyncIterable<Buffer>) {
        got += chunk.length
        if (got > size) break
      }
      expect(got).toBeGreaterThan(size)
    })
  })

  test('a client is not disconnected while the service has no data for it', async () => {
    const stalledMs = 300
    await using world = await World.start({}, { httpLimits: { stalledMs } })
    const project = await storedProject(world)
    project.repository.commit({ a: 'a\n' })
    const archive = `/projects/${project.id}/repository/archive.tar?sha=main`
    // Long-lived processes exist already.
    expect((await world.root.get(archive)).status).toBe(200)
    // Git searches further repositories until it reads that there are no more.
    const alternates = join(project.repository.gitDir, 'objects/info/alternates')
    execFileSync('mkfifo', [alternates])
    const answer = world.root.get(archive)
    await expect.poll(() => processesOn(project, 'archive')).not.toBe('0')
    await sleep(3 * stalledMs)
    writeFileSync(alternates, '')
    expect((await answer).status).toBe(200)
  })
})
