import { deleteSome } from '../../../db/batches.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer, textOf } from '../../../db/row.ts'
import { literal, raw, type Sql, sql } from '../../../db/sql.ts'
import type { ContentDigest } from '../names/digests.ts'

const daysAgo = (days: number): Sql => sql`now() - make_interval(days => ${days}::int)`

/** Forgets what tags named before the retention time. Returns the number of rows. */
export const deleteTagHistory = (db: Db, days: number, size: number): Promise<number> =>
  db.run(deleteSome('container_tag_history', sql`ended_at < ${daysAgo(days)}`, size))

/** Deletes repositories, with their content, that were deleted before the retention time. Returns their projects. */
export async function deleteHiddenRepositories(db: Db, days: number, size: number): Promise<number[]> {
  const rows = await db.rows(
    { project_id: integer },
    sql`${deleteSome('container_repositories', sql`deleted_at < ${daysAgo(days)}`, size)} returning project_id`,
  )
  return rows.map(({ project_id }) => project_id)
}

/** An older repository has been used, and keeps its id when all of its tags are deleted. */
const newForDays = 7

const isEmpty = (hours: number): Sql => sql`
  r.created_at < now() - make_interval(hours => ${hours}::int)
  and r.created_at > now() - make_interval(days => ${newForDays}::int)
  and not exists (select from container_blobs b where b.repository_id = r.id)
  and not exists (select from container_manifests m where m.repository_id = r.id)
  and not exists (select from container_uploads u where u.repository_id = r.id)
`

/**
 * Locks repositories without content and without an upload that were not created just now, with ids after `after`. Those into which
 * something is being pushed are skipped.
 */
export async function lockEmptyRepositories(tx: Tx, hours: number, after: number, size: number): Promise<number[]> {
  const rows = await tx.rows(
    { id: integer },
    sql`
      select r.id
      from container_repositories r
      where r.id > ${after} and ${isEmpty(hours)}
      order by r.id
      limit ${literal(size)}
      for update of r skip locked
    `,
  )
  return rows.map(({ id }) => id)
}

/** Deletes the locked repositories that are still empty. */
export const deleteEmptyRepositories = (tx: Tx, ids: readonly number[], hours: number): Promise<number> =>
  tx.run(sql`delete from container_repositories r where r.id = any(${ids}::bigint[]) and ${isEmpty(hours)}`)

/** Whether nothing needs the manifest `m`: no tag, no former tag, no index, and no manifest that it is about. */
const isUnused = raw(`
  not exists (select from container_tags t where t.manifest_id = m.id)
  and not exists (select from container_tag_history h where h.manifest_id = m.id)
  and not exists (select from container_manifest_children c where c.child_id = m.id)
  and not exists (
    select from container_manifests s where s.repository_id = m.repository_id and s.digest = m.subject
  )
`)

/**
 * Locks manifests that nothing needs since before the retention time, with ids after `after`. Those that a concurrent push uses are
 * skipped.
 */
export async function lockUnusedManifests(tx: Tx, days: number, after: number, size: number): Promise<number[]> {
  const rows = await tx.rows(
    { id: integer },
    sql`
      select m.id
      from container_manifests m
      where m.id > ${after} and m.used_at < ${daysAgo(days)} and ${isUnused}
      order by m.id
      limit ${literal(size)}
      for update of m skip locked
    `,
  )
  return rows.map(({ id }) => id)
}

/** Deletes those of the locked manifests that are still unused: a push may have used them until they were locked. */
export const deleteUnusedManifests = (tx: Tx, ids: readonly number[], days: number): Promise<number> =>
  tx.run(sql`
    delete from container_manifests m
    where m.id = any(${ids}::bigint[]) and m.used_at < ${daysAgo(days)} and ${isUnused}
  `)

/** A place in the order of all links. */
export type LinkKey = { readonly repository_id: number; readonly digest: ContentDigest }

const isUnlinkable = (hours: number): Sql => sql`
  b.used_at < now() - make_interval(hours => ${hours}::int)
  and not exists (
    select from container_manifest_blobs mb where mb.repository_id = b.repository_id and mb.digest = b.digest
  )
`

/** Locks links of blobs without a manifest that no client has used for this time. As `lockUnusedManifests`. */
export const lockUnusedLinks = (tx: Tx, hours: number, after: LinkKey, size: number): Promise<LinkKey[]> =>
  tx.rows(
    { repository_id: integer, digest: textOf<ContentDigest>() },
    sql`
      select b.repository_id, b.digest
      from container_blobs b
      where (b.repository_id, b.digest) > (${after.repository_id}, ${after.digest}) and ${isUnlinkable(hours)}
      order by b.repository_id, b.digest
      limit ${literal(size)}
      for update of b skip locked
    `,
  )

/** Deletes those of the locked links that are still unused. Returns the projects that lost some. */
export async function deleteUnusedLinks(tx: Tx, keys: readonly LinkKey[], hours: number): Promise<number[]> {
  const rows = await tx.rows(
    { project_id: integer },
    sql`
      with gone as (
        delete from container_blobs b using unnest(
          ${keys.map((key) => key.repository_id)}::bigint[], ${keys.map((key) => key.digest)}::text[]
        ) as chosen (repository_id, digest)
        where b.repository_id = chosen.repository_id and b.digest = chosen.digest and ${isUnlinkable(hours)}
        returning b.repository_id
      )
      select distinct r.project_id
      from gone join container_repositories r on r.id = gone.repository_id
    `,
  )
  return rows.map(({ project_id }) => project_id)
}
