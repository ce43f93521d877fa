import type { Digest } from '../../../blobs/blob-store.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, type RowOf, textOf } from '../../../db/row.ts'
import { literal, raw, sql } from '../../../db/sql.ts'
import { saveRegistrySize } from '../../projects/index.ts'
import type { LockedRepository } from '../images/queries.ts'
import { type ContentDigest, isSha256 } from '../names/digests.ts'

/** A blob that is readable through a repository: row of the table `container_blobs`. */
const linkedRow = {
  /** The name that clients use. */
  digest: textOf<ContentDigest>(),
  size: integer,
  /** The name in the blob store. */
  stored: textOf<Digest>(),
}
export type LinkedBlob = Readonly<RowOf<typeof linkedRow>>

const stored = raw('coalesce(b.stored_as, b.digest)')

/** Minutes after which a blob that a client finds counts as used again. Each renewal is a write. */
const renewalMinutes = 10

const foundRow = { ...linkedRow, repository_id: integer, stale: boolean }

/** The blob, if the repository has it. `stale` if a client that relies on it should renew it. */
export const findBlob = (
  db: Db,
  projectId: number,
  name: string,
  digest: ContentDigest,
): Promise<Readonly<RowOf<typeof foundRow>> | undefined> =>
  db.row(
    foundRow,
    sql`
      select b.digest, b.size, ${stored} as stored, b.repository_id,
        b.used_at < now() - make_interval(mins => ${literal(renewalMinutes)}) as stale
      from container_repositories r join container_blobs b on b.repository_id = r.id
      where r.project_id = ${projectId}
        and r.name = ${name}
        and r.deleted_at is null
        and b.digest = ${digest}
        and b.deleted_at is null
    `,
  )

/** False if the blob has been unlinked meanwhile. */
export const renewBlob = async (db: Db, repositoryId: number, digest: ContentDigest): Promise<boolean> =>
  (await db.run(
    sql`
      update container_blobs
      set used_at = now()
      where repository_id = ${repositoryId} and digest = ${digest} and deleted_at is null
    `,
  )) > 0

/** Makes a blob, whose bytes are stored, readable through a repository. */
export const linkBlob = (tx: Tx, repositoryId: number, blob: LinkedBlob): Promise<number> =>
  tx.run(sql`
    insert into container_blobs (repository_id, digest, size, stored_as)
    values (${repositoryId}, ${blob.digest}, ${blob.size}, ${isSha256(blob.digest) ? null : blob.stored})
    on conflict (repository_id, digest) do update set used_at = now(), deleted_at = null
  `)

/**
 * The blob if the repository with this name, or without a name any repository of the project, has it; locked, so that it stays
 * stored until the transaction ends.
 */
export const lockBlobOf = (
  tx: Tx,
  projectId: number,
  name: string | undefined,
  digest: ContentDigest,
): Promise<LinkedBlob | undefined> =>
  tx.row(
    linkedRow,
    sql`
      select b.digest, b.size, ${stored} as stored
      from container_repositories r join container_blobs b on b.repository_id = r.id
      where r.project_id = ${projectId}
        and r.deleted_at is null
        and (${name ?? null}::text is null or r.name = ${name ?? null}::text)
        and b.digest = ${digest}
        and b.deleted_at is null
      limit 1
      for key share of b
    `,
  )

/** Hides a blob without a manifest from clients; the collection unlinks it. */
export const hideBlob = async (tx: Tx, repositoryId: LockedRepository, digest: ContentDigest): Promise<boolean> =>
  (await tx.run(
    sql`
      update container_blobs b
      set deleted_at = now()
      where b.repository_id = ${repositoryId}
        and b.digest = ${digest}
        and b.deleted_at is null
        and not exists (
          select
          from container_manifest_blobs mb join container_manifests m on m.id = mb.manifest_id
          where mb.repository_id = b.repository_id and mb.digest = b.digest and m.deleted_at is null
        )
    `,
  )) > 0

/** Records the bytes of the blobs of a project, each counted once. */
export const countBlobs = (tx: Tx, projectId: number): Promise<void> =>
  saveRegistrySize(
    tx,
    projectId,
    sql`
      (
        select coalesce(sum(size), 0)
        from (
          select distinct ${stored} as stored, b.size
          from container_repositories r join container_blobs b on b.repository_id = r.id
          where r.project_id = ${projectId}
        ) as counted
      )
    `,
  )

/** Every blob once, with a project that has it, ordered by digest, starting after `after`. */
export const storedLayers = (db: Db, after: string, limit: number): Promise<(LinkedBlob & { project_id: number })[]> =>
  db.rows(
    { ...linkedRow, ...{ project_id: integer } },
    sql`
      select distinct on (b.digest) b.digest, b.size, ${stored} as stored, r.project_id
      from container_blobs b join container_repositories r on r.id = b.repository_id
      where b.digest > ${after}
      order by b.digest, r.project_id
      limit ${literal(limit)}
    `,
  )
