import type { Ctx } from '../../../api/ctx.ts'
import { inBatches } from '../../../db/batches.ts'
import type { Tx } from '../../../db/db.ts'
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
  await inBatches(
    (size) =>
      ctx.transaction(async (tx) => {
        const projects = await deleteHiddenRepositories(tx, retentionDays, size)
        await countEachLater(tx, projects)
        return projects.length
      }),
    repositoriesAtOnce,
  )
  let manifests = 0
  // The manifests of an index are unused once the index is gone.
  for (let found = -1; found !== 0; manifests += found) found = await deleteManifests(ctx, retentionDays)
  await unlinkBlobs(ctx, graceHours)
  // A token for a push, and an upload, create a repository into which perhaps nothing is pushed.
  await deleteEmpty(ctx, graceHours)
  return manifests
}

/** In the order of their ids, as other transactions do that count several. */
async function countEachLater(tx: Tx, projects: readonly number[]): Promise<void> {
  for (const project of [...new Set(projects)].sort((a, b) => a - b)) await countLater(tx, project)
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

async function unlinkBlobs(ctx: Ctx, hours: number): Promise<void> {
  let after: LinkKey = { repository_id: 0, digest: '' as ContentDigest }
  await inBatches(
    (size) =>
      ctx.transaction(async (tx) => {
        const keys = await lockUnusedLinks(tx, hours, after, size)
        await countEachLater(tx, await deleteUnusedLinks(tx, keys, hours))
        after = keys.at(-1) ?? after
        return keys.length
      }),
    rowsAtOnce,
  )
}
