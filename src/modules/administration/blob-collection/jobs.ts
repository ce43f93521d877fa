import { Type } from 'typebox'
import { job } from '../../../jobs/job.ts'
import { longAgo } from '../../../kernel/clock.ts'
import { collectBlobs } from './service.ts'

/** Longer than any upload takes from its last byte to the row that references it, and enough to undo a mistake. */
const graceMs = 24 * 60 * 60_000

/** Deletes blobs that no row references: files of deleted projects, replaced pictures, interrupted uploads. */
export const collectUnusedBlobs = job({
  name: 'collect_unused_blobs',
  input: Type.Object({}),
  key: () => 'collect_unused_blobs',
  attempts: 3,
  every: { cron: '40 3 * * *', input: {} },
  async run(_input, ctx) {
    const blobs = await collectBlobs(ctx, longAgo(graceMs))
    if (blobs > 0) ctx.log.info({ blobs }, 'deleted unreferenced blobs')
  },
})
