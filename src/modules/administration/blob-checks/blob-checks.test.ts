import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, vi } from 'vitest'
import { delayOf } from '../../../../test/jobs.ts'
import { test, unique, World } from '../../../../test/world.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import { saveLocation } from '../../../blobs/queries.ts'
import { oidOf, upload } from '../../pushes/large-files/testing.ts'
import { checkBlobs, checkFurther } from './jobs.ts'

test('a check logs each blob whose bytes have changed on the disk', async () => {
  await using world = await World.start()
  const project = await world.project()
  const contents = Array.from({ length: 5 }, () => unique('large'))
  for (const content of contents) await upload(world.root, project, content)
  const digests = contents.map((content) => oidOf(content) as Digest).sort()
  const damaged = [digests[1]!, digests[4]!]
  for (const digest of damaged) {
    const file = join(world.config.dataDir, 'blobs/sha256', digest.slice(0, 2), digest.slice(2, 4), digest)
    const bytes = await readFile(file)
    bytes[0]! ^= 1
    await writeFile(file, bytes)
  }
  const ctx = await world.app.open(null)
  const logged: unknown[] = []
  const log = { ...ctx.log, error: (facts: { digest: string }) => void logged.push(facts.digest) }
  const observed = { ...ctx, log } as typeof ctx
  await checkBlobs.run({ after: '' }, observed)
  expect(logged.splice(0)).toEqual(damaged)
  expect(await world.takeJobs('check_blobs')).toEqual([])

  // A blob that cannot be read does not keep others from being read.
  const unread = vi
    .spyOn(ctx.blobs, 'get')
    .mockRejectedValueOnce(Object.assign(new Error('denied'), { code: 'EACCES' }))
  await checkBlobs.run({ after: '' }, observed)
  unread.mockRestore()
  expect(logged.splice(0)).toEqual([digests[0], ...damaged])
  expect(await world.takeJobs('check_blobs')).toEqual([])

  // Without time, each run reads one blob, and the next one goes on after it.
  const positions: string[] = []
  for (let after: string | undefined = ''; after !== undefined; ) {
    await checkFurther(observed, after, 0)
    const [next] = await world.takeJobs('check_blobs')
    after = next?.payload.after
    if (after !== undefined) positions.push(after)
  }
  expect(positions).toEqual(digests)
  expect(logged).toEqual(damaged)
})

test('a check waits while blobs are moved to another store, and goes on from where it was', async () => {
  await using world = await World.start()
  const project = await world.project()
  const contents = Array.from({ length: 2 }, () => unique('large'))
  for (const content of contents) await upload(world.root, project, content)
  const [first, second] = contents.map((content) => oidOf(content) as Digest).sort()
  const file = join(world.config.dataDir, 'blobs/sha256', second!.slice(0, 2), second!.slice(2, 4), second!)
  await writeFile(file, 'damaged')
  const ctx = await world.app.open(null)
  const logged: unknown[] = []
  const log = { ...ctx.log, error: (facts: { digest: string }) => void logged.push(facts.digest) }
  const observed = { ...ctx, log } as typeof ctx
  const url = pathToFileURL(join(world.config.dataDir, 'blobs')).href
  const place = (moving_to: string | null) =>
    world.db.transaction(async (tx) => {
      await saveLocation(tx, { url, moving_to, moved_from: null })
    })
  await place(pathToFileURL(join(world.config.dataDir, 'other')).href)
  await checkFurther(observed, first!, 0)
  expect((await delayOf(world, 'check_blobs')).seconds).toBe(3600)
  const [waiting] = await world.takeJobs('check_blobs')
  await place(null)
  await checkBlobs.run(waiting!.payload, observed)
  expect(logged).toEqual([second])
  expect(await world.takeJobs('check_blobs')).toEqual([])
})
