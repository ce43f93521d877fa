import { readdir } from 'node:fs/promises'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { test, unique } from '../../../test/world.ts'
import { UploadSlots } from '../http/body/upload-slots.ts'
import { imageAt, Registry } from './testing.ts'

const count = 60
/** A third of all. */
const slotsOfOne = 40

test('half-sent small uploads of one user open a limited number of files, and all complete', async ({ world }) => {
  const registry = await Registry.open(world.root, imageAt(await world.project()))
  const uploads = join((await world.app.open(null)).registry.folder, 'uploads')
  // Tests before this one leave unfinished uploads in the folder.
  const names = () => readdir(uploads).catch(() => [] as string[])
  const before = new Set(await names())
  const open = async () => (await names()).filter((name) => !before.has(name)).length
  const content = unique('a part').padEnd(1000, '.')
  const half = async () => {
    const { headers } = await registry.send('POST', 'blobs/uploads/')
    const sent: ClientRequest = request(new URL(headers['location']!, world.origin), {
      method: 'PATCH',
      headers: { authorization: `Bearer ${registry.token}`, 'content-length': content.length },
    })
    const answer = new Promise<IncomingMessage>((resolve, reject) =>
      sent.once('response', resolve).once('error', reject),
    )
    sent.write(content.slice(0, 500))
    return { sent, answer }
  }
  const parts = await Promise.all(Array.from({ length: count }, half))
  await expect.poll(open).toBe(slotsOfOne)
  // The others would have a file by then.
  await registry.send('GET', 'tags/list')
  expect(await open()).toBe(slotsOfOne)
  for (const { sent } of parts) sent.end(content.slice(500))
  const answers = await Promise.all(parts.map(({ answer }) => answer))
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 202))
  for (const answer of answers) expect(await text(answer)).toBe('')
})

test('one caller has a third of the slots for small uploads, others have theirs at once, large ones too', async () => {
  const slots = new UploadSlots()
  const { signal } = new AbortController()
  const leaving: (() => void)[] = []
  const enter = async (bytes: number, caller: string) => leaving.push(await slots.enter(bytes, caller, signal))
  const entering = Array.from({ length: count }, () => enter(1000, 'user 1'))
  await enter(1000, 'user 2')
  await enter(1_000_000, 'user 1')
  await enter(Number.NaN, 'user 1')
  expect(leaving).toHaveLength(slotsOfOne + 3)
  for (const leave of leaving.splice(0)) leave()
  await Promise.all(entering)
  expect(leaving).toHaveLength(count - slotsOfOne)
})
