import type { Ctx } from '../../../api/ctx.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import { unreferenced } from './queries.ts'

const page = 1000

/**
 * Deletes blobs that nobody stored at `since` or later and that no row names; returns how many. Nothing that was
 * acknowledged is lost, whatever happens meanwhile: who stores bytes makes them young before he writes the row that names
 * them, and young ones are spared to the last moment. So `since` must be longer ago than that takes. One statement for each
 * thousand blobs. For one caller at a time.
 */
export async function collectBlobs(ctx: Ctx, since: Date): Promise<number> {
  await ctx.blobs.tidy(since)
  let collected = 0
  let old: Digest[] = []
  const collect = async () => {
    for (const digest of await unreferenced(ctx.db, old))
      if (await ctx.blobs.delete(digest, { unlessStoredSince: since })) collected++
    old = []
  }
  for await (const { digest, storedAt } of ctx.blobs.list()) {
    if (storedAt >= since) continue
    old.push(digest)
    if (old.length === page) await collect()
  }
  if (old.length > 0) await collect()
  return collected
}
