import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { inBatches } from '../../../db/batches.ts'
import { job } from '../../../jobs/job.ts'
import { longAgo } from '../../../kernel/clock.ts'
import { oldFiles, removeFiles } from './files.ts'
import { deleteIdleUploads, filesWithoutUpload } from './queries.ts'

/** Hours without progress after which an upload ends. */
const idleHours = 24
/** Longer than a request takes from its last byte to the row of its part. */
const graceMs = 24 * 60 * 60_000
const filesAtOnce = 1000

/** Ends idle uploads, and removes files that crashes and deleted repositories left. */
export async function tidyUploads(ctx: Ctx, before: Date): Promise<number> {
  await inBatches((size) => deleteIdleUploads(ctx.db, idleHours, size))
  const old = await oldFiles(ctx.registry.folder, before)
  let removed = 0
  for (let at = 0; at < old.length; at += filesAtOnce) {
    const left = await filesWithoutUpload(ctx.db, old.slice(at, at + filesAtOnce))
    await removeFiles(
      ctx.registry.folder,
      left.map((file) => ({ file })),
    )
    removed += left.length
  }
  return removed
}

export const tidyContainerUploads = job({
  name: 'tidy_container_uploads',
  input: Type.Object({}),
  key: () => 'tidy_container_uploads',
  attempts: 3,
  every: { cron: '50 * * * *', input: {} },
  async run(_input, ctx) {
    const files = await tidyUploads(ctx, longAgo(graceMs))
    if (files > 0) ctx.log.info({ files }, 'removed files of unfinished container uploads')
  },
})
