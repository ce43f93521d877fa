import type { Tx } from '../../../db/db.ts'
import {
  choice,
  hex,
  informs,
  moment,
  orElse,
  orNull,
  partOf,
  readAs,
  supplied,
  whole,
  words,
} from '../../../db/portable/columns.ts'
import type { Relation } from '../../../db/portable/relation.ts'
import { bytes, integer, text } from '../../../db/row.ts'
import { literal, raw, sql } from '../../../db/sql.ts'
import { maxNameLength, maxTagLength, nameBelowProject, tagName } from '../names/names.ts'

const times = { created_at: moment, updated_at: moment }
const repository = { repository: { ...partOf('container_repositories'), column: 'repository_id' } }
/** SHA-256 or SHA-512, as clients name blobs and manifests. */
const digest = words(128, /^([0-9a-f]{64}|[0-9a-f]{128})$/)
const sha256 = hex(64)

/** Repositories and manifests that clients can see: nothing that is deleted and could be restored. */
const below = (table: string): Pick<Relation, 'from' | 'where' | 'table'> => ({
  table,
  from: raw(`from container_repositories m join ${table} t on t.repository_id = m.id`),
  where: ({ id }) => sql`m.project_id = ${id} and m.deleted_at is null`,
})
const visible = (table: string): Pick<Relation, 'from' | 'where' | 'table'> => ({
  ...below(table),
  where: (holder) => sql`${below(table).where(holder)} and t.deleted_at is null`,
})

/**
 * Container images of a project. A manifest is in the archive as its text, from which an import computes everything else; the bytes of layers and
 * configurations are entries of the archive.
 */
export const imageRelations: readonly Relation[] = [
  {
    name: 'container_repositories',
    table: 'container_repositories',
    from: raw('from container_repositories t'),
    where: ({ id }) => sql`t.project_id = ${id} and t.deleted_at is null`,
    order: [{ text: 't.name' }],
    columns: { name: words(maxNameLength, nameBelowProject), ...times },
    hasId: true,
    holder: ['project_id'],
  },
  {
    name: 'container_blobs',
    ...visible('container_blobs'),
    where: (holder) => sql`
      ${visible('container_blobs').where(holder)}
      and exists (
        select
        from container_manifest_blobs u join container_manifests p on p.id = u.manifest_id
        where u.repository_id = t.repository_id and u.digest = t.digest and p.deleted_at is null
      )
    `,
    order: [{ text: 'm.name' }, { text: 't.digest' }],
    columns: {
      ...repository,
      digest,
      size: supplied(whole(0, Number.MAX_SAFE_INTEGER)),
      stored_as: supplied(orNull(sha256)),
    },
    repeats: 'skip',
  },
  {
    name: 'container_manifests',
    ...visible('container_manifests'),
    // The manifests of an index come before it.
    order: [{ text: 'm.name' }, 't.id'],
    columns: {
      ...repository,
      media_type: words(255),
      payload: readAs("convert_from(t.payload, 'UTF8')", { ...words(4 * 1024 * 1024), type: 'bytea' }),
      // For lists only: the sum of what it names, and what the configuration says.
      total_size: whole(0, Number.MAX_SAFE_INTEGER),
      image_created_at: orNull(moment),
      created_at: moment,
      // By which the manifest is named. Archives of earlier releases have SHA-256 only.
      algorithm: orElse(
        informs("case length(t.digest) when 64 then 'sha256' else 'sha512' end", choice('sha256', 'sha512')),
        'sha256',
      ),
      digest: supplied(digest),
      size: supplied(whole()),
      artifact_type: supplied(orNull(words(255))),
      subject: supplied(orNull(digest)),
      annotations: supplied(orNull(words(4 * 1024 * 1024))),
      config_digest: supplied(orNull(digest)),
    },
    hasId: true,
    batch: 20,
  },
  {
    name: 'container_tags',
    ...below('container_tags'),
    order: [{ text: 'm.name' }, { text: 't.name' }],
    columns: {
      ...repository,
      manifest: { ...partOf('container_manifests'), column: 'manifest_id' },
      name: words(maxTagLength, tagName),
      ...times,
    },
    repeats: 'skip',
    after: ({ id }) => [
      // A tag names a manifest of its own repository.
      sql`
        delete from container_tags t using container_repositories r, container_manifests m
        where r.project_id = ${id}
          and t.repository_id = r.id
          and m.id = t.manifest_id
          and m.repository_id <> t.repository_id
      `,
    ],
  },
]

const manifestRow = { id: integer, repository_id: integer, media_type: text, payload: bytes }

/** A page of the manifests of a project, by id. */
export const manifestsOf = (tx: Tx, projectId: number, after: number, size: number) =>
  tx.rows(
    manifestRow,
    sql`
      select m.id, m.repository_id, m.media_type, m.payload
      from container_repositories r join container_manifests m on m.repository_id = r.id
      where r.project_id = ${projectId} and m.id > ${after}
      order by m.id
      limit ${literal(size)}
    `,
  )

/** What a manifest names, by the digest. */
export type Part = { readonly manifest: number; readonly repository: number; readonly digest: string }

/** Links manifests to those of their blobs that the repository has. */
export const linkBlobsOf = (tx: Tx, parts: readonly Part[]): Promise<number> =>
  tx.run(sql`
    insert into container_manifest_blobs (manifest_id, repository_id, digest)
    select p.manifest, p.repository, p.digest
    from json_to_recordset(${JSON.stringify(parts)}::json) as p (manifest bigint, repository bigint, digest text)
      join container_blobs b on b.repository_id = p.repository and b.digest = p.digest
    on conflict do nothing
  `)

/** Links indexes to their manifests. */
export const linkChildrenOf = (tx: Tx, parts: readonly Part[]): Promise<number> =>
  tx.run(sql`
    insert into container_manifest_children (manifest_id, child_id, repository_id)
    select p.manifest, m.id, p.repository
    from json_to_recordset(${JSON.stringify(parts)}::json) as p (manifest bigint, repository bigint, digest text)
      join container_manifests m on m.repository_id = p.repository and m.digest = p.digest
    on conflict do nothing
  `)
