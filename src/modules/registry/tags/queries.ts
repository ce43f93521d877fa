import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer, json, nullable, type RowOf, text, textOf, timestamp } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import type { LockedRepository } from '../images/queries.ts'
import type { ContentDigest } from '../names/digests.ts'

/** A tag of a repository: row of the table `container_tags`. */
export const tagRow = { name: text }
export type TagRow = RowOf<typeof tagRow>

export const tagsOf = (repositoryId: number): List => ({
  type: 'ContainerTag',
  select: raw('select t.name from container_tags t'),
  from: raw('from container_tags t'),
  where: [sql`t.repository_id = ${repositoryId}`],
  order: [{ by: raw('t.name'), direction: 'asc' }],
})

export const tagDetailRow = {
  name: text,
  digest: textOf<ContentDigest>(),
  config_digest: nullable(textOf<ContentDigest>()),
  total_size: integer,
  image_created_at: nullable(timestamp),
}
export type TagDetailRow = RowOf<typeof tagDetailRow>

export const findTag = (db: Db, repositoryId: number, name: string): Promise<TagDetailRow | undefined> =>
  db.row(
    tagDetailRow,
    sql`
      select t.name, m.digest, m.config_digest, m.total_size, m.image_created_at
      from container_tags t join container_manifests m on m.id = t.manifest_id
      where t.repository_id = ${repositoryId} and t.name = ${name}
    `,
  )

/** Names of the tags of a repository after `last`, in order; undefined if there is no such repository. */
export const tagNamesAfter = async (
  db: Db,
  projectId: number,
  name: string,
  last: string,
  limit: number,
): Promise<readonly string[] | undefined> =>
  (
    await db.snapshotCache.row(
      { names: json<string[]>() },
      sql`
        select coalesce(
          (
            select json_agg(found.name order by found.name)
            from (
              select t.name
              from container_tags t
              where t.repository_id = r.id and t.name > ${last}
              order by t.name
              limit ${limit}
            ) as found
          ),
          '[]'
        ) as names
        from container_repositories r
        where r.project_id = ${projectId} and r.name = ${name} and r.deleted_at is null
      `,
    )
  )?.names

/** What a tag names. */
export const manifestOfTag = async (
  tx: Tx,
  repositoryId: LockedRepository,
  name: string,
): Promise<number | undefined> =>
  (
    await tx.row(
      { manifest_id: integer },
      sql`select manifest_id from container_tags where repository_id = ${repositoryId} and name = ${name}`,
    )
  )?.manifest_id

/** Makes a tag name a manifest. What it named before goes into the history. */
export async function setTag(tx: Tx, repositoryId: LockedRepository, name: string, manifestId: number): Promise<void> {
  const before = await manifestOfTag(tx, repositoryId, name)
  if (before !== undefined && before !== manifestId) await rememberTag(tx, repositoryId, name, before)
  await tx.run(sql`
    insert into container_tags (repository_id, name, manifest_id)
    values (${repositoryId}, ${name}, ${manifestId})
    on conflict (repository_id, name) do update set manifest_id = excluded.manifest_id, updated_at = now()
  `)
}

/** The collection leaves a manifest alone for the retention time after it lost a tag. */
async function rememberTag(tx: Tx, repositoryId: number, name: string, manifestId: number): Promise<void> {
  await tx.run(sql`
    insert into container_tag_history (repository_id, name, manifest_id)
    values (${repositoryId}, ${name}, ${manifestId})
  `)
  await tx.run(sql`update container_manifests set used_at = now() where id = ${manifestId}`)
}

/** Deletes tags, into the history. Returns the names that existed. */
export async function deleteTags(tx: Tx, repositoryId: LockedRepository, names: readonly string[]): Promise<string[]> {
  const gone = await tx.rows(
    { name: text },
    sql`
      with gone as (
        delete from container_tags
        where repository_id = ${repositoryId} and name = any(${names}::text[])
        returning repository_id, name, manifest_id
      ),
      remembered as (
        insert into container_tag_history (repository_id, name, manifest_id)
        select repository_id, name, manifest_id
        from gone
      ),
      used as (update container_manifests set used_at = now() where id in (select manifest_id from gone))
      select name
      from gone
    `,
  )
  return gone.map(({ name }) => name)
}

/** Names of the tags of a manifest. */
export async function tagsOfManifest(tx: Tx, manifestId: number): Promise<string[]> {
  const rows = await tx.rows({ name: text }, sql`select name from container_tags where manifest_id = ${manifestId}`)
  return rows.map(({ name }) => name)
}

/** What a tag named last, within the retention time; of a certain manifest if a digest is given. */
export const lastNamed = async (
  tx: Tx,
  repositoryId: LockedRepository,
  name: string,
  digest: ContentDigest | undefined,
  days: number,
): Promise<number | undefined> =>
  (
    await tx.row(
      { manifest_id: integer },
      sql`
        select h.manifest_id
        from container_tag_history h join container_manifests m on m.id = h.manifest_id
        where h.repository_id = ${repositoryId}
          and h.name = ${name}
          and h.ended_at > now() - make_interval(days => ${days}::int)
          and (${digest ?? null}::text is null or m.digest = ${digest ?? null}::text)
        order by h.id desc
        limit 1
      `,
    )
  )?.manifest_id

/** Makes a manifest readable again, with the manifests of an index and all their blobs. */
export async function reviveManifest(tx: Tx, manifestId: number): Promise<void> {
  const revived = sql`
    with recursive parts as (
      select ${manifestId}::bigint as id
      union select c.child_id from parts join container_manifest_children c on c.manifest_id = parts.id
    )
  `
  await tx.run(sql`
    ${revived}
    update container_manifests
    set deleted_at = null
    where id in (select id from parts) and deleted_at is not null
  `)
  await tx.run(sql`
    ${revived}
    update container_blobs b
    set deleted_at = null
    from container_manifest_blobs mb
    where mb.manifest_id in (select id from parts)
      and b.repository_id = mb.repository_id
      and b.digest = mb.digest
      and b.deleted_at is not null
  `)
}

const candidateRow = { name: text, digest: textOf<ContentDigest>(), image_created_at: nullable(timestamp) }
export type Candidate = RowOf<typeof candidateRow>

/** All tags of a repository but `latest`, newest image first; those of images without a date count as new. */
export const candidatesOf = (db: Db, repositoryId: number): Promise<Candidate[]> =>
  db.rows(
    candidateRow,
    sql`
      select t.name, m.digest, m.image_created_at
      from container_tags t join container_manifests m on m.id = t.manifest_id
      where t.repository_id = ${repositoryId} and t.name <> 'latest'
      order by m.image_created_at desc nulls first, t.name
    `,
  )

/** Names of those of the tags that still name the same manifest. */
export async function unmoved(
  tx: Tx,
  repositoryId: LockedRepository,
  tags: readonly { readonly name: string; readonly digest: ContentDigest }[],
): Promise<string[]> {
  const rows = await tx.rows(
    { name: text },
    sql`
      select t.name
      from unnest(${tags.map(({ name }) => name)}::text[], ${tags.map(({ digest }) => digest)}::text[]) as chosen (
          name, digest
        )
        join container_tags t on t.repository_id = ${repositoryId} and t.name = chosen.name
        join container_manifests m on m.id = t.manifest_id and m.digest = chosen.digest
    `,
  )
  return rows.map(({ name }) => name)
}
