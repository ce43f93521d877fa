import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { FormData } from 'undici'
import { describe, expect } from 'vitest'
import { beginRequest } from '../../../../test/begun-request.ts'
import { hasS3, S3Server } from '../../../../test/s3/server.ts'
import { changeProject } from '../../../../test/tables/projects.ts'
import { deleteLargeFiles, misstateLargeFile } from '../../../../test/tables/pushes.ts'
import { test, unique, World } from '../../../../test/world.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import { blobCheck } from '../../../blobs/check.ts'
import { uploadsDir } from '../../../config.ts'
import { ownerMark } from '../../../kernel/owner-mark.ts'
import { removeProject } from '../../projects/projects/jobs.ts'
import { checkLargeFiles } from '../../pushes/large-files/check.ts'
import { basic, oidOf, upload } from '../../pushes/large-files/testing.ts'
import { removeInterruptedUploads } from './jobs.ts'
import { collectBlobs } from './service.ts'

/** A time at which everything stored so far is old. */
const later = () => new Date(Date.now() + 60_000)

describe('collection of unreferenced blobs', () => {
  test('unreferenced blobs are deleted after the grace period, those of files and avatars are not', async () => {
    await using world = await World.start()
    const ctx = await world.app.open(null)
    const project = await world.project()
    const [kept, shared, alone] = [unique('kept'), unique('shared'), unique('alone')]
    const doomed = await world.project()
    for (const content of [kept, shared]) await upload(world.root, project, content)
    for (const content of [shared, alone]) await upload(world.root, doomed, content)
    const picture = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from(unique('picture'))])
    const form = new FormData()
    form.set('avatar', new Blob([picture]), 'x.png')
    expect((await world.root.send('PUT', `/projects/${project.id}`, { body: form })).status).toBe(200)
    await ctx.blobs.put(Readable.from([Buffer.from('unwanted')]))

    await world.root.delete(`/projects/${doomed.id}`)
    await changeProject(world, doomed.id, { deleting: true })
    await removeProject.run({ projectId: doomed.id }, ctx)

    expect(await collectBlobs(ctx, new Date(Date.now() - 60_000))).toBe(0)
    expect(await collectBlobs(ctx, later())).toBe(2)
    expect(await collectBlobs(ctx, later())).toBe(0)
    const there = async (content: string | Buffer) => ctx.blobs.has(oidOf(content) as Digest)
    expect(await Promise.all([kept, shared, picture, alone, 'unwanted'].map(there))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ])
  })

  test.for([
    ['a folder', true],
    ['object storage (skipped without test/s3/install)', hasS3],
  ] as const)(
    'no acknowledged upload is lost to a concurrent collection in %s',
    async ([where, possible], { skip }) => {
      skip(!possible)
      await using server = where === 'a folder' ? undefined : await S3Server.start()
      const blobUrl = await server?.bucket(unique('bucket'))
      await using world = await World.start(blobUrl === undefined ? {} : { STITHY_BLOB_URL: blobUrl })
      const ctx = await world.app.open(null)
      const project = await world.project()
      const contents = Array.from({ length: 40 }, (_, n) => unique(`raced ${n}`))
      // All exist already, old and unreferenced.
      for (const content of contents) await ctx.blobs.put(Readable.from([Buffer.from(content)]))
      await new Promise((resolve) => setTimeout(resolve, 20))
      const since = new Date()
      let going = true
      const collecting = (async () => {
        while (going) await collectBlobs(ctx, since)
      })()
      const sent = await Promise.all(
        contents.map((content) =>
          world.root.send('PUT', `//${project.full_path}.git/gitlab-lfs/objects/${oidOf(content)}/${content.length}`, {
            headers: basic(world.root),
            body: content,
          }),
        ),
      )
      going = false
      await collecting
      expect(sent.map(({ status }) => status)).toEqual(contents.map(() => 200))
      for (const content of contents) {
        const blob = await ctx.blobs.get(oidOf(content) as Digest)
        expect((await buffer(blob!.body)).toString()).toBe(content)
      }
      expect(await checkLargeFiles(ctx.db, blobCheck(ctx.blobs))).toEqual([])
    },
  )
})

test('the file of a form whose worker was killed is deleted, after a day if its name does not say which worker, and not while a form is sent', async () => {
  await using world = await World.start()
  const ctx = await world.app.open(null)
  const project = await world.project()
  const folder = uploadsDir(world.config)
  await writeFile(join(folder, 'upload-of-the-killed'), 'lost')
  await utimes(join(folder, 'upload-of-the-killed'), 0, new Date(Date.now() - 25 * 60 * 60_000))
  const [here] = ownerMark().split('-')
  await writeFile(join(folder, `upload-${here}-${spawnSync('true').pid}-${randomUUID()}`), 'killed')
  const boundary = 'x'
  const sent = beginRequest(`${world.origin}/api/v4/projects/${project.id}/uploads`, {
    headers: { 'private-token': world.root.token!, 'content-type': `multipart/form-data; boundary=${boundary}` },
  })
  await sent.begun
  sent.send(`--${boundary}\r\ncontent-disposition: form-data; name=file; filename=a.txt\r\n\r\nhalf`)
  await expect.poll(() => readdir(folder)).toHaveLength(3)
  await removeInterruptedUploads.run({}, ctx)
  expect(await readdir(folder)).toEqual([expect.stringContaining(`upload-${ownerMark()}-`)])
  expect((await sent.complete(` a file\r\n--${boundary}--\r\n`)).status).toBe(201)
})

test('checkLargeFiles reports missing and truncated LFS files', async ({ world }) => {
  const ctx = await world.app.open(null)
  const project = await world.project()
  const [gone, cut] = [unique('gone'), unique('cut')]
  for (const content of [gone, cut]) await upload(world.root, project, content)
  await ctx.blobs.delete(oidOf(gone) as Digest)
  await misstateLargeFile(world, oidOf(cut))
  const found = await checkLargeFiles(ctx.db, blobCheck(ctx.blobs))
  expect(found.filter((line) => line.startsWith(`project ${project.id}:`)).sort()).toEqual(
    [
      `project ${project.id}: its large file ${oidOf(gone)} is missing`,
      `project ${project.id}: its large file ${oidOf(cut)} has ${cut.length} bytes instead of ${cut.length + 1}`,
    ].sort(),
  )
  await deleteLargeFiles(world, project.id)
})
