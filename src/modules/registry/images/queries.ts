import type { Caller } from '../../../access/actor.ts'
import { featureLevels, levels, visibilities } from '../../../access/levels.ts'
import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, json, listOf, optional, type RowOf, text, timestamp } from '../../../db/row.ts'
import { empty, raw, type Sql, sql } from '../../../db/sql.ts'
import type { Brand } from '../../../kernel/brand.ts'
import { within } from '../../namespaces/index.ts'
import { memberAtLeast, openVisibility, visibleProjects } from '../../projects/index.ts'

/** A repository of images: row of the table `container_repositories`. */
export const repositoryRow = {
  id: integer,
  project_id: integer,
  name: text,
  created_at: timestamp,
  /** A job is about to delete it. */
  deleting: boolean,
  /** Path of the project. */
  full_path: text,
  /** Only when requested. */
  tag_names: optional(listOf(text)),
  tags_count: optional(integer),
}
export type RepositoryRow = RowOf<typeof repositoryRow>

export type Shown = { readonly tags?: boolean | undefined; readonly tags_count?: boolean | undefined }

/** Tags that a record lists; more are listed by their own endpoint. */
const maxTags = 1000

const shownColumns = ({ tags, tags_count }: Shown): Sql => sql`
  ${
    tags
      ? sql`, array(select t.name from container_tags t where t.repository_id = r.id order by t.name limit ${raw(String(maxTags))}) as tag_names`
      : empty
  } ${tags_count ? raw(', (select count(*) from container_tags t where t.repository_id = r.id) as tags_count') : empty}
`

const select = (shown: Shown): Sql => sql`
  select r.id, r.project_id, r.name, r.created_at, r.deleting, p.full_path ${shownColumns(shown)}
  from container_repositories r join projects p on p.id = r.project_id
`

const from = raw('from container_repositories r join projects p on p.id = r.project_id')

export const repositoriesOf = (projectId: number, shown: Shown): List => ({
  type: 'ContainerRepository',
  select: select(shown),
  from,
  key: raw('r.id'),
  where: [sql`r.project_id = ${projectId}`, raw('r.deleted_at is null')],
  order: [
    { by: raw('r.name'), direction: 'asc' },
    { by: raw('r.id'), direction: 'asc' },
  ],
})

/** Those that can be restored, the last deleted first. */
export const deletedRepositoriesOf = (projectId: number, shown: Shown, days: number): List => ({
  type: 'ContainerRepository',
  select: select(shown),
  from,
  key: raw('r.id'),
  where: [sql`r.project_id = ${projectId}`, sql`r.deleted_at > now() - make_interval(days => ${days}::int)`],
  byClock: true,
  order: [
    { by: raw('r.deleted_at'), direction: 'desc' },
    { by: raw('r.id'), direction: 'desc' },
  ],
})

/** Repositories of the projects below a group whose images the caller may read. */
export const repositoriesBelow = (caller: Caller, groupId: number, shown: Shown): List => ({
  type: 'ContainerRepository',
  select: select(shown),
  from,
  key: raw('r.id'),
  where: [
    sql`
      p.namespace_id in (
        select n.id
        from namespaces g join namespaces n on ${within(raw('n.traversal_ids'), raw('g.traversal_ids'))}
        where g.id = ${groupId}
      )
    `,
    raw('not p.deleting and r.deleted_at is null'),
    visibleProjects(caller),
    readableImages(caller),
  ],
  order: [
    { by: raw('r.name'), direction: 'asc' },
    { by: raw('r.id'), direction: 'asc' },
  ],
})

/** Projects `p` whose images the caller may read: SQL twin of `read_container_image`, given that the project is visible. */
export function readableImages(caller: Caller): Sql {
  const { disabled, enabled } = featureLevels
  const feature = raw('p.container_registry_access_level')
  if (caller?.admin) return sql`${feature} > ${disabled}`
  if (caller === null) return sql`(p.visibility = ${visibilities.public} and ${feature} >= ${enabled})`
  return sql`
    (
      ${feature} > ${disabled}
      and (
        ${memberAtLeast(caller, levels.reporter)}
        or (
          p.visibility >= ${openVisibility(caller)}
          and (${feature} >= ${enabled} or ${memberAtLeast(caller, levels.guest)})
        )
      )
    )
  `
}

export const findRepository = (
  db: Db,
  projectId: number,
  id: number,
  shown: Shown = {},
): Promise<RepositoryRow | undefined> =>
  db.row(
    repositoryRow,
    sql`${select(shown)} where r.id = ${id} and r.project_id = ${projectId} and r.deleted_at is null`,
  )

/** By its own id, whatever the project; for the endpoint that names no project. */
export const projectOfRepository = async (db: Db, id: number): Promise<number | undefined> =>
  (
    await db.row(
      { project_id: integer },
      sql`select project_id from container_repositories where id = ${id} and deleted_at is null`,
    )
  )?.project_id

/** The id of the repository with this name; undefined if there is none. */
export const findRepositoryId = async (db: Db, projectId: number, name: string): Promise<number | undefined> =>
  (
    await db.snapshotCache.row(
      { id: integer },
      sql`
        select id from container_repositories where project_id = ${projectId} and name = ${name} and deleted_at is null
      `,
    )
  )?.id

/** The repository with this name, unless its deletion is requested. */
const named = (projectId: number, name: string): Sql => sql`
  select id
  from container_repositories
  where project_id = ${projectId} and name = ${name} and not deleting and deleted_at is null
`

/** Hides marked repositories; conditions follow that say which. */
const hide = raw(`
  update container_repositories
  set deleted_at = now(), deleting = false, updated_at = now()
  where deleting and deleted_at is null
`)

/**
 * Creates the repository with this name if there is none. One that a job is about to delete is deleted now. Others may delete it as soon as the
 * transaction ends: pushes use `inRepository`.
 */
export async function ensureRepository(tx: Tx, projectId: number, name: string): Promise<void> {
  if (await tx.exists(named(projectId, name))) return
  await tx.run(sql`${hide} and project_id = ${projectId} and name = ${name}`)
  await tx.run(sql`
    insert into container_repositories (project_id, name)
    values (${projectId}, ${name})
    on conflict (project_id, name) where deleted_at is null do nothing
  `)
}

/**
 * The id of the repository with this name if no deletion of it is requested, which then waits until the transaction ends, as does
 * `lockRepository`. PostgreSQL compares the row again after a wait.
 */
export const keepRepository = async (tx: Tx, projectId: number, name: string): Promise<number | undefined> =>
  (await tx.row({ id: integer }, sql`${named(projectId, name)} for share`))?.id

/** A repository that is locked until the transaction ends, so that nothing else changes its tags. */
export type LockedRepository = Brand<number, 'LockedRepository'>

/** As `keepRepository`, and as `lockRepository` if there is one. */
export async function lockNamedRepository(
  tx: Tx,
  projectId: number,
  name: string,
): Promise<LockedRepository | undefined> {
  const found = await tx.row({ id: integer }, sql`${named(projectId, name)} for no key update`)
  await tx.requirePermission?.()
  return found?.id as LockedRepository | undefined
}

/**
 * Serialises changes of the tags of a repository until the transaction ends; undefined if it is deleted. Throws if the request may not change
 * it after the wait; a job has no such request, and asks itself.
 */
export async function lockRepository(tx: Tx, id: number): Promise<LockedRepository | undefined> {
  const found = await tx.row(
    { id: integer },
    sql`select id from container_repositories where id = ${id} and deleted_at is null for no key update`,
  )
  await tx.requirePermission?.()
  return found?.id as LockedRepository | undefined
}

/** False if it is marked already or deleted. */
export const markDeleting = async (tx: Tx, id: number): Promise<boolean> =>
  (await tx.run(
    sql`
      update container_repositories
      set deleting = true, updated_at = now()
      where id = ${id} and not deleting and deleted_at is null
    `,
  )) > 0

/** Hides a repository that is marked still. */
export const hideRepository = (tx: Tx, id: number): Promise<number> => tx.run(sql`${hide} and id = ${id}`)

/** Brings a deleted or marked repository back. Violates `container_repositories_name` if another has its name meanwhile. */
export const unhideRepository = async (tx: Tx, projectId: number, id: number, days: number): Promise<boolean> =>
  (await tx.run(
    sql`
      update container_repositories
      set deleted_at = null, deleting = false, updated_at = now()
      where id = ${id}
        and project_id = ${projectId}
        and (deleting or deleted_at > now() - make_interval(days => ${days}::int))
    `,
  )) > 0

/** Starts a bulk deletion. False if one started less than an hour ago. */
export const claimBulkDeletion = async (tx: Tx, id: LockedRepository): Promise<boolean> =>
  (await tx.run(
    sql`
      update container_repositories
      set bulk_deleted_at = now()
      where id = ${id} and (bulk_deleted_at is null or bulk_deleted_at not between now() - interval '1 hour' and now())
    `,
  )) > 0

/** Names of all repositories for clients, from the one after `last`, in order. */
export async function catalogAfter(db: Db, last: string, limit: number): Promise<string[]> {
  const rows = await db.rows(
    { names: json<string[]>() },
    sql`
      select coalesce(json_agg(found.path order by found.path), '[]') as names
      from (
        select path
        from (
          select lower(p.full_path) || case
            when r.name = '' then ''
            else '/' || r.name
          end collate "C" as path
          from container_repositories r join projects p on p.id = r.project_id
          where r.deleted_at is null
            and not p.deleting
            and exists (
              select from container_manifests m where m.repository_id = r.id and m.deleted_at is null
            )
        ) as named
        where path > ${last}
        order by path
        limit ${limit}
      ) as found
    `,
  )
  return rows[0]?.names ?? []
}
