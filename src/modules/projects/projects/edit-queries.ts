import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, json, nullable, text } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { taken } from '../../../kernel/violations.ts'
import type { Located } from '../repositories/location.ts'
import { locatedRow } from '../repositories/location.ts'
import { countingTopics, countTopicsOfNew } from '../topics/count.ts'
import { lockSourcesOf } from '../topics/count-queries.ts'
import { type FeatureLevels, featureColumns } from './features.ts'
import { type LoweredProject, lowering } from './lowered-queries.ts'
import { columns, type ProjectRow, projectRow } from './queries.ts'
import type { StoredSettings } from './settings.ts'

export type NewProject = FeatureLevels & {
  namespaceId: number
  creatorId: number
  name: string
  path: string
  fullPath: string
  description: string | null
  visibility: number
  topics: readonly string[]
  settings: StoredSettings
  storage: string
  runnersToken: string
}

/** Also counts its topics. Violates `projects_name` if another project of the namespace has the name. */
export async function insertProject(tx: Tx, project: NewProject): Promise<Located> {
  const made = (await tx.row(
    locatedRow,
    sql`
      with made as (
        insert into projects (
          namespace_id, creator_id, name, path, full_path, description, visibility, topics, settings,
          repository_storage, runners_token, issues_access_level, repository_access_level,
          merge_requests_access_level, builds_access_level, wiki_access_level, snippets_access_level,
          container_registry_access_level, pages_access_level, forking_access_level
        )
        values (
          ${project.namespaceId}, ${project.creatorId}, ${project.name}, ${project.path},
          ${project.fullPath}, ${project.description}, ${project.visibility}, ${project.topics},
          ${JSON.stringify(project.settings)}::jsonb, ${project.storage}, ${project.runnersToken},
          ${project.issues_access_level}, ${project.repository_access_level},
          ${project.merge_requests_access_level}, ${project.builds_access_level},
          ${project.wiki_access_level}, ${project.snippets_access_level},
          ${project.container_registry_access_level}, ${project.pages_access_level},
          ${project.forking_access_level}
        )
        returning id, repository_storage, repository_key
      ),
      counted as (insert into project_statistics (project_id) select id from made)
      select id, repository_storage, repository_key
      from made
    `,
  ))!
  if (project.topics.length > 0) await countTopicsOfNew(tx, made.id)
  return made
}

/** Whether a namespace, or the nearest group above it that decides, enables Auto DevOps for new projects; null if none decides. */
export const autoDevopsOf = async (tx: Tx, namespaceId: number): Promise<boolean | null> =>
  (
    await tx.row(
      { auto_devops_enabled: nullable(boolean) },
      sql`
        select g.auto_devops_enabled
        from namespaces n join namespaces g on g.id = any(n.traversal_ids)
        where n.id = ${namespaceId} and g.auto_devops_enabled is not null
        order by cardinality(g.traversal_ids) desc
        limit 1
      `,
    )
  )?.auto_devops_enabled ?? null

/** Number of projects in a personal namespace. */
export const countPersonalProjects = async (db: Db, userId: number): Promise<number> =>
  (await db.row(
    { count: integer },
    sql`
      select count(*) as count
      from projects p join namespaces n on n.id = p.namespace_id
      where n.owner_id = ${userId} and not p.deleting
    `,
  ))!.count

/**
 * Maximum number of personal projects of a user. Serialises creations in their namespace until the transaction ends.
 */
export const lockProjectsLimit = async (tx: Tx, userId: number): Promise<number> =>
  (await tx.row(
    { projects_limit: integer },
    sql`select projects_limit from users where id = ${userId} for no key update`,
  ))!.projects_limit

const isWikiPath = (fullPath: string): boolean => /\.wiki$/i.test(fullPath)

const withoutWiki = (fullPath: string): string => (isWikiPath(fullPath) ? fullPath.slice(0, -5) : fullPath)

/** Path of the wiki of the project at this path, or of the project or group whose wiki is at this path. */
const wikiTwin = (fullPath: string): string => (isWikiPath(fullPath) ? withoutWiki(fullPath) : `${fullPath}.wiki`)

/** Serialises what takes this path or that of its twin until the transaction ends: no constraint keeps both from being taken. */
const lockPath = (tx: Tx, fullPath: string): Promise<number> =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended('project path ' || lower(${withoutWiki(fullPath)}), 0))`)

/**
 * Errors of a name and path that another project has. A path that collides with a wiki is reported under `name`, for
 * compatibility. Projects that are being deleted still count. Others cannot take the path until the transaction ends.
 */
export async function takenNames(
  tx: Tx,
  project: { namespaceId: number; name: string; fullPath: string; projectId?: number },
): Promise<{ name: string[]; path: string[] }> {
  const others = project.projectId === undefined ? raw('true') : sql`r.project_id is distinct from ${project.projectId}`
  const { projectId = null } = project
  await lockPath(tx, project.fullPath)
  const found = (await tx.row(
    { name: boolean, path: boolean, wiki: boolean },
    sql`
      select exists (
          select
          from projects
          where namespace_id = ${project.namespaceId}
            and name = ${project.name}
            and id is distinct from ${projectId}::bigint
        ) as name,
        exists (
          select from routes r where r.path_key = lower(${project.fullPath}) and not r.redirect and ${others}
        ) as path,
        exists (
          select
          from routes r
          where r.path_key = lower(${wikiTwin(project.fullPath)})
            and (r.project_id is not null or ${isWikiPath(project.fullPath)})
            and not r.redirect
            and ${others}
        ) as wiki
    `,
  ))!
  return { name: found.name || found.wiki ? [taken] : [], path: found.path ? [taken] : [] }
}

/** Columns that an edit may set; absent ones stay. */
export type ProjectChanges = Partial<
  FeatureLevels & {
    name: string
    path: string
    full_path: string
    description: string | null
    visibility: number
    default_branch: string
    topics: readonly string[]
    archived: boolean
    readme_path: string | null
    license_path: string | null
    license_key: string | null
  }
> & { settings?: StoredSettings }

const editable = new Set([
  'name',
  'path',
  'full_path',
  'description',
  'visibility',
  'default_branch',
  'topics',
  'archived',
  'readme_path',
  'license_path',
  'license_key',
  ...featureColumns,
])

/** Columns of a locked project that an edit may set and `ProjectRow` does not have. */
export const attributesOf = async (tx: Tx, id: number) =>
  (await tx.row(
    {
      description: nullable(text),
      topics: json<string[]>(),
      readme_path: nullable(text),
      license_path: nullable(text),
      license_key: nullable(text),
      settings: json<StoredSettings>(),
    },
    sql`
      select description, to_jsonb(topics) as topics, readme_path, license_path, license_key, settings
      from projects
      where id = ${id}
    `,
  ))!

/** Changes columns and settings of a project. Returns the projects whose visibility this lowers: this one and its forks. */
export async function updateProject(
  tx: Tx,
  id: number,
  { settings, ...columns }: ProjectChanges,
): Promise<LoweredProject[]> {
  let assignments = sql`updated_at = now()`
  for (const [name, value] of Object.entries(columns)) {
    if (!editable.has(name)) throw new Error(`not a column to edit: ${name}`)
    assignments = sql`${assignments}, ${raw(name)} = ${value}`
  }
  if (settings && Object.keys(settings).length > 0) {
    const { container_expiration_policy: policy, ...whole } = settings
    const merged = policy
      ? sql`
        jsonb_build_object(
          'container_expiration_policy',
          coalesce(settings -> 'container_expiration_policy', '{}') || ${JSON.stringify(policy)}::jsonb
        )
      `
      : sql`'{}'`
    assignments = sql`${assignments}, settings = settings || ${JSON.stringify(whole)}::jsonb || ${merged}`
  }
  const update = () => tx.run(sql`update projects set ${assignments} where id = ${id}`)
  const { topics, visibility, issues_access_level, merge_requests_access_level } = columns
  if (visibility !== undefined) return lowering(tx, sql`p.id = ${id}`, update, visibility)
  // As in `changingAudience`.
  if (issues_access_level !== undefined || merge_requests_access_level !== undefined) await tx.allowLongStatements()
  await (topics ? countingTopics(tx, sql`p.id = ${id}`, update) : update())
  return []
}

const held = (id: number): Sql =>
  sql`select ${columns}, null::smallint as level from projects p where p.id = ${id} and not p.deleting`

/** Locks the project against concurrent edits until the transaction ends. What is added to it meanwhile does not wait. */
export const lockProject = (tx: Tx, id: number): Promise<ProjectRow | undefined> =>
  tx.row(projectRow, sql`${held(id)} for no key update`)

/**
 * As `lockProject`, for a change of namespace or name, which are the key of `projects_name`: it waits for what is added to the project, and
 * for those that keep its place (`holdPlace` of `groups`).
 */
export const lockProjectKey = (tx: Tx, id: number): Promise<ProjectRow | undefined> =>
  tx.row(projectRow, sql`${held(id)} for update`)

/** Locks the project as an update of its state does: what is added to it meanwhile does not wait. False if it is being deleted. */
export const lockState = (tx: Tx, id: number): Promise<boolean> =>
  tx.exists(sql`select from projects where id = ${id} and not deleting for no key update`)

/** Locks the source of a fork, which counts it, before the fork is locked to be deleted. */
export const lockForkCount = (tx: Tx, projectId: number): Promise<number> => lockSourcesOf(tx, sql`p.id = ${projectId}`)

/** Visibility of the source of a fork, locked until the transaction ends. Undefined without a source. */
export const lockForkSource = async (tx: Tx, projectId: number): Promise<number | undefined> =>
  (
    await tx.row(
      { visibility: integer },
      sql`
        select s.visibility
        from projects p join projects s on s.id = p.forked_from_project_id
        where p.id = ${projectId} and not s.deleting
        for share of s
      `,
    )
  )?.visibility
