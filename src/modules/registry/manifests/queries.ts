import type { Db, Tx } from '../../../db/db.ts'
import { bytes, integer, nullable, type RowOf, text, textOf, timestamp } from '../../../db/row.ts'
import { literal, type Sql, sql } from '../../../db/sql.ts'
import type { LockedRepository } from '../images/queries.ts'
import type { ContentDigest } from '../names/digests.ts'

const manifestRow = { digest: textOf<ContentDigest>(), media_type: text, size: integer }
const storedRow = { ...manifestRow, payload: bytes }
export type StoredManifest = RowOf<typeof storedRow>
export type ManifestHead = RowOf<typeof manifestRow>

/** By the digest, or by the name of a tag. */
export type Reference = { readonly digest: ContentDigest } | { readonly tag: string }

const found = (columns: Sql, projectId: number, name: string, reference: Reference): Sql =>
  'digest' in reference
    ? sql`
      select ${columns}
      from container_repositories r join container_manifests m on m.repository_id = r.id
      where r.project_id = ${projectId}
        and r.name = ${name}
        and r.deleted_at is null
        and m.digest = ${reference.digest}
        and m.deleted_at is null
    `
    : sql`
      select ${columns}
      from container_repositories r
        join container_tags t on t.repository_id = r.id
        join container_manifests m on m.id = t.manifest_id
      where r.project_id = ${projectId} and r.name = ${name} and r.deleted_at is null and t.name = ${reference.tag}
    `

export const findManifest = (
  db: Db,
  projectId: number,
  name: string,
  reference: Reference,
): Promise<Readonly<StoredManifest> | undefined> =>
  db.row(storedRow, found(sql`m.digest, m.media_type, m.size, m.payload`, projectId, name, reference))

/** As `findManifest`, without its bytes. */
export const findManifestHead = (
  db: Db,
  projectId: number,
  name: string,
  reference: Reference,
): Promise<Readonly<ManifestHead> | undefined> =>
  db.row(manifestRow, found(sql`m.digest, m.media_type, m.size`, projectId, name, reference))

const sizedRow = { digest: textOf<ContentDigest>(), size: integer }

/** Those of the blobs that clients of the repository can read, locked until the transaction ends. */
export const lockBlobs = (
  tx: Tx,
  repositoryId: number,
  digests: readonly ContentDigest[],
): Promise<RowOf<typeof sizedRow>[]> =>
  tx.rows(
    sizedRow,
    sql`
      select digest, size
      from container_blobs
      where repository_id = ${repositoryId} and digest = any(${digests}::text[]) and deleted_at is null
      order by digest
      for key share
    `,
  )

const childRow = {
  id: integer,
  digest: textOf<ContentDigest>(),
  size: integer,
  total_size: integer,
  image_created_at: nullable(timestamp),
}

/** Those of the manifests that the repository has, locked until the transaction ends. */
export const lockManifests = (
  tx: Tx,
  repositoryId: number,
  digests: readonly ContentDigest[],
): Promise<RowOf<typeof childRow>[]> =>
  tx.rows(
    childRow,
    sql`
      select id, digest, size, total_size, image_created_at
      from container_manifests
      where repository_id = ${repositoryId} and digest = any(${digests}::text[]) and deleted_at is null
      order by digest
      for key share
    `,
  )

export type NewManifest = {
  digest: ContentDigest
  mediaType: string
  artifactType: string | null
  payload: Buffer
  subject: ContentDigest | null
  annotations: string | null
  configDigest: ContentDigest | null
  totalSize: number
  imageCreatedAt: string | null
  blobs: readonly ContentDigest[]
  children: readonly number[]
}

/** Stores a manifest, or brings it back if it is deleted. Returns its id. */
export async function saveManifest(tx: Tx, repositoryId: LockedRepository, manifest: NewManifest): Promise<number> {
  const { id } = (await tx.row(
    { id: integer },
    sql`
      insert into container_manifests (
        repository_id, digest, media_type, artifact_type, payload, size, subject, annotations,
        config_digest, total_size, image_created_at
      )
      values (
        ${repositoryId}, ${manifest.digest}, ${manifest.mediaType}, ${manifest.artifactType},
        ${manifest.payload}, ${manifest.payload.length}, ${manifest.subject}, ${manifest.annotations},
        ${manifest.configDigest}, ${manifest.totalSize}, ${manifest.imageCreatedAt}::timestamptz
      )
      on conflict (repository_id, digest) do update
        set media_type = excluded.media_type, used_at = now(), deleted_at = null
      returning id
    `,
  ))!
  await tx.run(sql`
    insert into container_manifest_blobs (manifest_id, repository_id, digest)
    select ${id}::bigint, ${repositoryId}::bigint, digest
    from unnest(${manifest.blobs}::text[]) as named (digest)
    on conflict do nothing
  `)
  if (manifest.children.length > 0)
    await tx.run(sql`
      insert into container_manifest_children (manifest_id, child_id, repository_id)
      select ${id}::bigint, child, ${repositoryId}::bigint
      from unnest(${manifest.children}::bigint[]) as named (child)
      on conflict do nothing
    `)
  return id
}

/**
 * Hides a manifest that no index has from clients, until the collection deletes it. Returns its id; `used` if an index has it;
 * undefined if there is none.
 */
export async function hideManifest(
  tx: Tx,
  repositoryId: LockedRepository,
  digest: ContentDigest,
): Promise<number | 'used' | undefined> {
  const held = await tx.row(
    { id: integer },
    sql`
      select id
      from container_manifests
      where repository_id = ${repositoryId} and digest = ${digest} and deleted_at is null
      for update
    `,
  )
  if (!held) return undefined
  const isUsed = await tx.exists(sql`
    select
    from container_manifest_children c join container_manifests m on m.id = c.manifest_id
    where c.child_id = ${held.id} and m.deleted_at is null
  `)
  if (isUsed) return 'used'
  await tx.run(sql`update container_manifests set deleted_at = now(), used_at = now() where id = ${held.id}`)
  return held.id
}

const referrerRow = {
  id: integer,
  digest: textOf<ContentDigest>(),
  media_type: text,
  size: integer,
  artifact_type: nullable(text),
  annotations: nullable(text),
}
export type Referrer = RowOf<typeof referrerRow>

/** Annotations of a page of referrers, in bytes; the first referrer is listed in any case. */
const maxAnnotations = 2 * 1024 * 1024

/** Manifests about another one, which need not exist, oldest first, after the one with the id `after`. */
export const referrersOf = (
  db: Db,
  projectId: number,
  name: string,
  subject: ContentDigest,
  { artifactType, after, limit }: { artifactType: string | undefined; after: number; limit: number },
): Promise<Referrer[]> =>
  db.rows(
    referrerRow,
    sql`
      select id, digest, media_type, size, artifact_type, annotations
      from (
        select m.id, m.digest, m.media_type, m.size, m.artifact_type, m.annotations,
          sum(octet_length(m.annotations)) over (order by m.id) - coalesce(
            octet_length(m.annotations), 0
          ) as before
        from container_repositories r join container_manifests m on m.repository_id = r.id
        where r.project_id = ${projectId}
          and r.name = ${name}
          and r.deleted_at is null
          and m.subject = ${subject}
          and m.deleted_at is null
          and m.id > ${after}
          and (${artifactType ?? null}::text is null or m.artifact_type = ${artifactType ?? null}::text)
        order by m.id
        limit ${literal(limit)}
      ) as found
      where coalesce(before, 0) < ${literal(maxAnnotations)}
      order by id
    `,
  )
