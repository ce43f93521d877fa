import type { Tx } from '../../src/db/db.ts'
import { sql } from '../../src/db/sql.ts'
import type { World } from '../world.ts'

/** Numbers of rows of a container repository. */
export async function imageRows(
  world: World,
  repositoryId: number,
): Promise<{ manifests: number; blobs: number; tags: number; history: number }> {
  const [row] = await world.rows(
    `select (select count(*)::int from container_manifests where repository_id = $1) as manifests,
      (select count(*)::int from container_blobs where repository_id = $1) as blobs,
      (select count(*)::int from container_tags where repository_id = $1) as tags,
      (select count(*)::int from container_tag_history where repository_id = $1) as history`,
    [repositoryId],
  )
  return row
}

/** Makes everything of a container repository older. */
export async function ageImages(world: World, repositoryId: number, age: string): Promise<void> {
  const older = (table: string, column: string, key = 'repository_id') =>
    world.rows(`update ${table} set ${column} = now() - $2::interval where ${key} = $1`, [repositoryId, age])
  await older('container_manifests', 'used_at')
  await older('container_blobs', 'used_at')
  await older('container_tag_history', 'ended_at')
  await older('container_uploads', 'updated_at')
  await older('container_repositories', 'bulk_deleted_at', 'id')
  await world.rows(
    'update container_repositories set deleted_at = now() - $2::interval where id = $1 and deleted_at is not null',
    [repositoryId, age],
  )
}

/** Makes a container repository older, apart from its content. */
export const ageRepository = (world: World, repositoryId: number, age: string): Promise<unknown> =>
  world.rows('update container_repositories set created_at = now() - $2::interval where id = $1', [repositoryId, age])

/** Copies of an unfinished upload, `count` of them and newer, of the same caller or another one. */
export const repeatUpload = (world: World, uploadId: string, count: number, shareKey?: string): Promise<unknown> =>
  world.rows(
    `insert into container_uploads (repository_id, share_key, received, updated_at)
      select repository_id, coalesce($3, share_key), received, updated_at + n * interval '1 microsecond'
      from container_uploads, generate_series(1, $2::int) as n
      where id = $1::uuid`,
    [uploadId, count, shareKey ?? null],
  )

/**
 * Makes PostgreSQL plan each statement of the transaction once, as for a table of unfinished uploads that is nearly empty, and keep that
 * plan when there are more.
 */
export async function planForFewUploads(world: World, tx: Tx): Promise<void> {
  await world.rows('vacuum analyze container_uploads')
  await tx.run(sql`set local plan_cache_mode = force_generic_plan`)
}

/** The number of unfinished uploads to a container repository. */
export const unfinishedUploads = async (world: World, repositoryId: number): Promise<number> =>
  (
    await world.rows('select count(*)::int as uploads from container_uploads where repository_id = $1', [repositoryId])
  )[0].uploads

/** Makes the next cleanup of a project due. */
export const makeCleanupDue = (world: World, projectId: number): Promise<unknown> =>
  world.rows('update container_cleanups set next_run_at = now() where project_id = $1', [projectId])

/** Days until the next cleanup of a project; undefined if none is scheduled. */
export const daysToCleanup = async (world: World, projectId: number): Promise<number | undefined> =>
  (
    await world.rows(
      `select round(extract(epoch from next_run_at - now()) / 86400)::int as days
        from container_cleanups where project_id = $1`,
      [projectId],
    )
  )[0]?.days

/** Records another size of a layer than it has. */
export const misstateLayer = (world: World, digest: string): Promise<unknown> =>
  world.rows('update container_blobs set size = size + 1 where digest = $1', [digest])

/** Gives an empty upload this many bytes, in `count` parts without files. */
export const splitUpload = (world: World, uploadId: string, size: number, count = size): Promise<unknown> =>
  world.rows(
    `with whole as (update container_uploads set received = $2 where id = $1::uuid returning id)
      insert into container_upload_parts (upload_id, start, size, file, digest)
      select id, n * ($2::int / $3::int), $2::int / $3::int, gen_random_uuid(), repeat('0', 64)
      from whole, generate_series(0, $3::int - 1) as n`,
    [uploadId, size, count],
  )
