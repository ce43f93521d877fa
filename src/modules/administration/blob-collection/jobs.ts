import { Type } from 'typebox'
import { deleteFiles, heldRetryMs } from '../../../db/held-files.ts'
import { enqueue, type Job, job } from '../../../jobs/job.ts'
import { longAgo } from '../../../kernel/clock.ts'
import { collectBlobs, removeOldUploads } from './service.ts'

/** Longer than any upload takes from its last byte to the row that references it, and enough to undo a mistake. */
const graceMs = 24 * 60 * 60_000

const nothing = Type.Object({})

/** Deletes blobs that no row references: files of deleted projects, replaced pictures, interrupted uploads. */
export const collectUnusedBlobs: Job<typeof nothing> = job({
  name: 'collect_unused_blobs',
  input: nothing,
  key: () => 'collect_unused_blobs',
  attempts: 3,
  every: { cron: '40 3 * * *', input: {} },
  async run(_input, ctx) {
    // Otherwise a backup each night at this time would prevent all collections.
    if ((await deleteFiles(ctx.transaction, async () => {})) === 'held')
      return void (await ctx.transaction((tx) => enqueue(tx, collectUnusedBlobs, {}, heldRetryMs)))
    const blobs = await collectBlobs(ctx, longAgo(graceMs))
    if (blobs > 0) ctx.log.info({ blobs }, 'deleted unreferenced blobs')
  },
})

/** Deletes files of forms whose worker was killed. A start of the service deletes all of them, but may be months away. */
export const removeInterruptedUploads: Job<typeof nothing> = job({
  name: 'remove_interrupted_uploads',
  input: nothing,
  key: () => 'remove_interrupted_uploads',
  attempts: 3,
  every: { cron: '55 * * * *', input: {} },
  async run(_input, ctx) {
    const files = await removeOldUploads(ctx, longAgo(graceMs))
    if (files > 0) ctx.log.info({ files }, 'deleted files of interrupted uploads')
  },
})
