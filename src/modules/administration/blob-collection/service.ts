import { rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Ctx } from '../../../api/ctx.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import { missingAs, namesIn } from '../../../kernel/missing.ts'
import { isOwnerGone } from '../../../kernel/owner-mark.ts'
import { unreferenced } from './queries.ts'

const page = 1000

/**
 * Deletes blobs that no row references and that were not stored at `since` or later; returns their number. Safe for
 * concurrent uploads: storing bytes renews the time of a blob before the row that references it is written, and each
 * deletion checks that time again. `since` must be longer ago than an upload takes. One statement for each thousand
 * blobs. Only one caller may run it at a time.
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

/**
 * Deletes the temporary files of forms (`edges/http/body/multipart.ts`) whose process is gone, or that were last written before a time, which must
 * be longer ago than their requests take. Returns their number.
 */
export async function removeOldUploads(
  { repositoriesDir }: Pick<Ctx, 'repositoriesDir'>,
  before: Date,
): Promise<number> {
  const folder = join(dirname(repositoriesDir), 'tmp', 'uploads')
  let removed = 0
  for (const name of await namesIn(folder)) {
    const path = join(folder, name)
    const facts = await stat(path).catch(missingAs(undefined))
    if (!facts || (facts.mtime >= before && !isOwnerGone(name))) continue
    await rm(path, { force: true })
    removed++
  }
  return removed
}
