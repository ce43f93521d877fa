import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { parseDigest } from '../../../blobs/blob-store.ts'
import { checkAfter } from '../../../blobs/check.ts'
import { enqueue, type Job, job } from '../../../jobs/job.ts'

/** The digest of the last blob that was read; empty at the beginning. */
const input = Type.Object({ after: Type.String() })

/** How long a run waits that finds a move of the blobs to another store, in ms. */
const waitMs = 60 * 60_000

/** How long a run reads, in ms. The pause after it is nine times as long (`throttled`). */
const readMs = 20_000

/**
 * Reads the files of all blobs once a month, and logs the damaged ones. Each run goes on where the last one ended, also after a restart. Blobs in
 * object storage are not read. During a move to another store it waits.
 */
export const checkBlobs: Job<typeof input> = job({
  name: 'check_blobs',
  input,
  key: () => 'check_blobs',
  throttled: true,
  attempts: 5,
  every: { cron: '10 4 1 * *', input: { after: '' } },
  run: ({ after }, ctx) => checkFurther(ctx, after, readMs),
})

/** Reads on for `ms`, and queues the next run if blobs are left, or if a move prevents that they are read. */
export async function checkFurther(ctx: Ctx, after: string, ms: number): Promise<void> {
  if ((await ctx.blobs.needsChecks()) === false) return
  const last = await checkAfter(ctx.blobs, parseDigest(after), ms, {
    damaged: (digest) => ctx.log.error({ digest }, 'a blob is damaged'),
    unread: (digest, err) => ctx.log.error({ digest, err }, 'a blob cannot be read'),
  })
  // Asked after the list, which may have ended because a move has begun.
  const waits = last === undefined && (await ctx.blobs.needsChecks()) === 'later'
  if (last) await ctx.transaction((tx) => enqueue(tx, checkBlobs, { after: last }))
  else if (waits) await ctx.transaction((tx) => enqueue(tx, checkBlobs, { after }, waitMs))
}
