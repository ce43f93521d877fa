import { readdirSync, readlinkSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { FormData } from 'undici'
import { describe, expect, onTestFinished, test } from 'vitest'
import { basic, oidOf, upload } from '../../src/modules/pushes/large-files/testing.ts'
import { waitMs } from '../waiting.ts'
import { type Client, World } from '../world.ts'

/** Larger than the buffers of a connection. */
const content = Buffer.alloc(24 * 1024 * 1024, 'download')

/** How often this process has the blob open. */
const openFiles = (): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).endsWith(oidOf(content))
    } catch {
      return false
    }
  }).length

/** Asks for a path and reads nothing of the answer. */
function stall(world: World, who: Client, path: string): Socket {
  const socket = connect(Number(new URL(world.origin).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.pause()
  const headers = Object.entries({ host: 'x', 'private-token': who.token!, ...basic(who) })
  socket.write(`GET ${path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
  onTestFinished(() => void socket.destroy())
  return socket
}

describe.skipIf(process.platform !== 'linux')(
  'downloads that a client does not read (counts open files: needs Linux)',
  () => {
    test('of one caller are a third of all at most: further ones get a 429, others get through', async () => {
      // Two for one caller, and two that wait.
      await using world = await World.start({}, { downloadLimits: { slots: 6, maxWaiting: 4, waitMs: 1500 } })
      const [ann, bob] = [await world.user(), await world.user()]
      const project = await world.project({
        visibility: 'public',
        members: [
          [ann, 'developer'],
          [bob, 'developer'],
        ],
      })
      expect(await upload(ann, project, content)).toBe(200)
      const form = new FormData()
      form.append('file', new Blob([content]), 'large.bin')
      await world.settings({ max_attachment_size: 100 })
      const { full_path, url } = (await ann.send('POST', `/projects/${project.id}/uploads`, { body: form })).json
      const paths = {
        lfs: `/${project.full_path}.git/gitlab-lfs/objects/${oidOf(content)}`,
        upload: full_path as string,
        api: `/api/v4/projects/${project.id}${url}`,
      }
      const get = (who: Client, path: string, headers = basic(who)) => who.get(`/${path}`, { headers })

      const stalled = [stall(world, ann, paths.lfs), stall(world, ann, paths.upload)]
      await expect.poll(openFiles, { timeout: waitMs }).toBe(2)
      const more = await Promise.all([paths.lfs, paths.upload, paths.api, paths.lfs].map((each) => get(ann, each)))
      expect(more.map(({ status }) => status)).toEqual([429, 429, 429, 429])
      expect(more.map(({ headers }) => headers['retry-after'])).toEqual(Array(4).fill('10'))
      expect(openFiles()).toBe(2)
      for (const each of [paths.lfs, paths.upload]) expect((await get(bob, each)).status).toBe(200)
      expect((await get(world.anonymous, paths.lfs, {})).status).toBe(200)

      for (const socket of stalled) socket.destroy()
      await expect.poll(openFiles, { timeout: waitMs }).toBe(0)
      for (const each of Object.values(paths)) expect((await get(ann, each)).status).toBe(200)
    })
  },
)
