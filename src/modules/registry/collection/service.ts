import type { Ctx } from '../../../api/ctx.ts'
import { inBatches } from '../../../db/batches.ts'
import { countLater } from '../blobs/jobs.ts'
import type { ContentDigest } from '../names/digests.ts'
import {
  deleteEmptyRepositories,
  deleteHiddenRepositories,
  deleteTagHistory,
  deleteUnusedLinks,
  deleteUnusedManifests,
  type LinkKey,
  lockEmptyRepositories,
  lockUnusedLinks,
  lockUnusedManifests,
} from './queries.ts'

const rowsAtOnce = 500
/** Each has the rows of an image. */
const repositoriesAtOnce = 5

/** Times after which the collection deletes what nothing needs. */
export type Ages = {
  /** Days for which deleted tags, images and repositories, and manifests without a tag, stay. */
  readonly retentionDays: number
  /** Hours for which a blob without a manifest stays: longer than a push takes from a layer to its manifest. */
  readonly graceHours: number
}

/**
 * Deletes what nothing needs any more: history of tags, repositories, manifests, links of blobs, repositories without content. The collection of blobs deletes the
 * bytes of blobs without a link. Safe for concurrent pushes: what a push uses is locked, or has been used too recently.
 */
export async function collectImages(ctx: Ctx, { retentionDays, graceHours }: Ages): Promise<number> {
  await inBatches((size) => deleteTagHistory(ctx.db, retentionDays, size))
  const changed = new Set<number>()
  await inBatches(async (size) => {
    const projects = await deleteHiddenRepositories(ctx.db, retentionDays, size)
    for (const project of projects) changed.add(project)
    return projects.length
  }, repositoriesAtOnce)
  let manifests = 0
  // The manifests of an index are unused once the index is gone.
  for (let found = -1; found !== 0; manifests += found) found = await deleteManifests(ctx, retentionDays)
  for (const project of await unlinkBlobs(ctx, graceHours)) changed.add(project)
  // A token for a push, and an upload, create a repository into which perhaps nothing is pushed.
  await deleteEmpty(ctx, graceHours)
  await ctx.transaction(async (tx) => {
    for (const project of changed) await countLater(tx, project)
  })
  return manifests
}

async function deleteManifests(ctx: Ctx, days: number): Promise<number> {
  let deleted = 0
  let after = 0
  await inBatches(
    (size) =>
      ctx.transaction(async (tx) => {
        const ids = await lockUnusedManifests(tx, days, after, size)
        deleted += await deleteUnusedManifests(tx, ids, days)
        after = ids.at(-1) ?? after
        return ids.length
      }),
    rowsAtOnce,
  )
  return deleted
}

async function deleteEmpty(ctx: Ctx, hours: number): Promise<void> {
  let after = 0
  await inBatches(
    (size) =>
      ctx.transaction(async (tx) => {
        const ids = await lockEmptyRepositories(tx, hours, after, size)
        await deleteEmptyRepositories(tx, ids, hours)
        after = ids.at(-1) ?? after
        return ids.length
      }),
    rowsAtOnce,
  )
}

async function unlinkBlobs(ctx: Ctx, hours: number): Promise<Set<number>> {
  const projects = new Set<number>()
  let after: LinkKey = { repository_id: 0, digest: '' as ContentDigest }
  await inBatches(
    (size) =>
      ctx.transaction(async (tx) => {
        const keys = await lockUnusedLinks(tx, hours, after, size)
        for (const project of await deleteUnusedLinks(tx, keys, hours)) projects.add(project)
        after = keys.at(-1) ?? after
        return keys.length
      }),
    rowsAtOnce,
  )
  return projects
}
