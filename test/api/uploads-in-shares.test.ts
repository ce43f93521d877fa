import { existsSync, readdirSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { uploadsDir } from '../../src/config.ts'
import { type Client, test, type World } from '../world.ts'

const boundary = 'XX'
const begin = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n`
const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }

const mebibyte = 1024 * 1024

/** Begins a request with a body of one mebibyte and sends little of it. Returns a function that ends it. */
function beginRequest(url: string, method: string, headers: Record<string, string>, body: string): () => void {
  const sent = request(url, { method, headers: { ...headers, 'content-length': mebibyte } })
  sent.on('error', () => {})
  sent.write(body)
  return () => sent.destroy()
}

const beginUpload = (world: World, who: Client, path: string): (() => void) =>
  beginRequest(
    `${world.origin}/api/v4${path}`,
    'POST',
    { ...headers, 'private-token': who.token! },
    begin + 'x'.repeat(1024),
  )

test('forty concurrent uploads of one account use a third of the slots, and another account can upload', async ({
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

test('forty concurrent LFS uploads of one account use a third of the slots', async ({ world }) => {
  const ann = await world.user()
  const project = await world.project({ members: [[ann, 'developer']] })
  const folder = join(fileURLToPath(world.config.blobUrl), 'tmp')
  const unfinished = () => (existsSync(folder) ? readdirSync(folder).length : 0)
  const before = unfinished()
  const authorization = `Basic ${Buffer.from(`${ann.username}:${ann.token}`).toString('base64')}`
  const begin = (size: number, n: number) =>
    beginRequest(
      `${world.origin}/${project.full_path}.git/gitlab-lfs/objects/${String(n).padStart(64, '0')}/${size}`,
      'PUT',
      { authorization },
      'x',
    )
  const ends = Array.from({ length: 40 }, (_, n) => begin(mebibyte, n))
  await expect.poll(unfinished).toBeGreaterThanOrEqual(before + 8)
  // A response after the forty requests were read shows that the others wait.
  expect((await ann.get('/user')).status).toBe(200)
  expect(unfinished()).toBe(before + 8)
  for (const end of ends) end()
  await expect.poll(unfinished).toBe(before)
})
