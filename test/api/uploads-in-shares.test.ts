import { readdirSync } from 'node:fs'
import { request } from 'node:http'
import { expect } from 'vitest'
import { uploadsDir } from '../../src/config.ts'
import { type Client, test, type World } from '../world.ts'

const boundary = 'XX'
const begin = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n`
const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }

/** Begins an upload of a megabyte and sends nothing more. Resolves with what ends it, once its first bytes are sent. */
function beginUpload(world: World, who: Client, path: string): () => void {
  const sent = request(`${world.origin}/api/v4${path}`, {
    method: 'POST',
    headers: { ...headers, 'private-token': who.token!, 'content-length': 1024 * 1024 },
  })
  sent.on('error', () => {})
  sent.write(begin + 'x'.repeat(1024))
  return () => sent.destroy()
}

test('an account that begins forty uploads takes a third of the room, and another one can upload', async ({
  world,
}) => {
  const [ann, bob] = [await world.user(), await world.user()]
  const project = await world.project({
    members: [
      [ann, 'developer'],
      [bob, 'developer'],
    ],
  })
  const path = `/projects/${project.id}/uploads`
  const unfinished = () => readdirSync(uploadsDir(world.config)).filter((name) => name.startsWith('upload-')).length
  const before = unfinished()
  const ends = Array.from({ length: 40 }, () => beginUpload(world, ann, path))
  await expect.poll(unfinished).toBeGreaterThanOrEqual(before + 8)
  const body = `${begin}${'y'.repeat(512 * 1024)}\r\n--${boundary}--\r\n`
  expect((await bob.send('POST', path, { headers, body })).status).toBe(201)
  await expect.poll(unfinished).toBe(before + 8)
  for (const end of ends) end()
  await expect.poll(unfinished).toBe(before)
})
