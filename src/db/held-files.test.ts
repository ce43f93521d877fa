import { existsSync } from 'node:fs'
import { mkdir, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { deflateSync } from 'node:zlib'
import { describe, expect } from 'vitest'
import { changeProject, projectRow } from '../../test/tables/projects.ts'
import { test, unique, World } from '../../test/world.ts'
import { collectBlobs } from '../modules/administration/blob-collection/service.ts'
import { removeHeldRepository, removeProject } from '../modules/projects/projects/jobs.ts'
import { packRepository } from '../modules/projects/repositories/housekeeping.ts'
import { openForWriting } from '../modules/projects/repositories/open.ts'
import { deleteFiles, FilesHold } from './held-files.ts'

const nothing = () => {}

/** An object that no ref reaches, and that is old enough to be deleted. */
async function unreachable(gitDir: string): Promise<string> {
  const path = join(gitDir, 'objects/e6/9de29bb2d1d6434b8b29ae775ad8c2e48c5391')
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, deflateSync('blob 0\0'), { mode: 0o400 })
  await utimes(path, 1, 1)
  return path
}

describe('while a backup runs', () => {
  test('repositories, unreachable objects and blobs are not deleted, and afterwards they are', async () => {
    await using world = await World.start()
    const ctx = await world.app.open(null)
    const [doomed, busy] = [await world.project(), await world.project()]
    const [located] = await projectRow(world, busy.id, 'id', 'repository_storage', 'repository_key')
    const repo = await openForWriting(ctx, { ...located, default_branch: null })
    const object = await unreachable(repo.gitDir)
    const [dead] = await projectRow(world, doomed.id, 'id', 'repository_storage', 'repository_key')
    const { gitDir } = await openForWriting(ctx, { ...dead, default_branch: null })
    const { digest } = await ctx.blobs.put(Readable.from([Buffer.from(unique('unwanted'))]))
    await world.root.delete(`/projects/${doomed.id}`)
    await changeProject(world, doomed.id, { deleting: true })
    const clean = async () => {
      await removeProject.run({ projectId: doomed.id }, ctx)
      for (const { payload } of await world.jobs(`remove_held_repository:${doomed.id}`))
        await removeHeldRepository.run(payload, ctx)
      const done = await packRepository(ctx, repo, 'gc')
      await collectBlobs(ctx, new Date(Date.now() + 60_000))
      return { done, files: [existsSync(gitDir), existsSync(object), await ctx.blobs.has(digest)] }
    }
    {
      await using _hold = await FilesHold.take(world.databaseUrl, nothing)
      expect(await clean()).toEqual({ done: 'full', files: [true, true, true] })
      // Its path is free.
      expect(await projectRow(world, doomed.id, 'id')).toEqual([])
    }
    expect(await clean()).toEqual({ done: 'gc', files: [false, false, false] })
  })

  test('it waits for files that are being deleted, and no second backup begins', async ({ world }) => {
    const ctx = await world.app.open(null)
    const deleting = Promise.withResolvers<void>()
    const began = Promise.withResolvers<void>()
    const deletion = deleteFiles(ctx.transaction, async () => {
      began.resolve()
      await deleting.promise
      return 'deleted'
    })
    await began.promise
    let held = false
    const taking = FilesHold.take(world.databaseUrl, nothing).then((hold) => {
      held = true
      return hold
    })
    // Others may delete until the backup has begun to wait, and none after that.
    for (;;) if ((await deleteFiles(ctx.transaction, async () => 'deleted')) === 'held') break
    expect(held).toBe(false)
    await expect(FilesHold.take(world.databaseUrl, nothing)).rejects.toThrow('Another backup is running.')
    deleting.resolve()
    expect(await deletion).toBe('deleted')
    const hold = await taking
    await hold.requireHeld()
    await hold.release()
    expect(await deleteFiles(ctx.transaction, async () => 'deleted')).toBe('deleted')
    await hold[Symbol.asyncDispose]()
  })
})
