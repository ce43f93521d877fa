import type { Actor, Caller } from '../../access/actor.ts'
import { featureLevels, levels, visibilities } from '../../access/levels.ts'
import type { Db, Tx } from '../../db/db.ts'
import { empty, raw, type Sql, sql, wireTime } from '../../db/sql.ts'
import type { DateOnly, Timestamp } from '../../db/types.ts'
import { forCaller } from '../access-index/caller-queries.ts'
import {
  deployKeyLevel,
  deployTokenLevel,
  projectLevel,
  projectWhere,
  projectWithinLimits,
} from '../access-index/queries.ts'
import { taken } from '../namespaces/names.ts'
import { type UserReferenceRow, userReferenceJson } from '../users/queries.ts'
import type { FeatureLevels } from './features.ts'
import { type ProjectSettings, settingDefaults } from './settings.ts'

/** What every operation on a project needs, with the caller's level: one probe of each index. */
export type ProjectRow = FeatureLevels & {
  id: number
  namespace_id: number
  full_path: string
  path: string
  name: string
  visibility: number
  archived: boolean
  default_branch: string | null
  import_status: 'none' | 'scheduled' | 'started' | 'finished' | 'failed'
  repository_storage: string
  updated_at: Timestamp
  /** Whoever reads the project reads its jobs. */
  public_builds: boolean
  /** Null without any. */
  level: number | null
  /** Only with a token that is limited. */
  within_limits?: boolean
}

const featureColumns = raw(
  'p.issues_access_level, p.repository_access_level, p.merge_requests_access_level, p.builds_access_level, p.wiki_access_level, p.snippets_access_level, p.pages_access_level, p.forking_access_level',
)

const columns = sql`p.id, p.namespace_id, p.full_path, p.path, p.name, p.visibility, p.archived, p.default_branch, p.import_status, p.repository_storage, p.updated_at,
  coalesce((p.settings->>'public_builds')::boolean, ${settingDefaults.public_builds}) as public_builds, ${featureColumns}`

const levelOf = (caller: Caller): Sql =>
  caller === null
    ? raw('null::smallint')
    : caller.deployKey
      ? deployKeyLevel(caller.deployKey.id, raw('p.id'))
      : caller.deployToken
        ? deployTokenLevel(caller.deployToken.id, raw('p.id'), raw('p.namespace_id'))
        : projectLevel(caller.id, raw('p.id'), raw('p.namespace_id'))

const limitsColumn = (caller: Caller): Sql =>
  caller?.limits ? sql`, ${projectWithinLimits(caller, raw('p.id'), raw('p.namespace_id'))} as within_limits` : empty

/** By number, or by full path in any case; an old path leads to what was renamed. */
const named = (name: { number: number } | { path: string }): { join: Sql; condition: Sql } =>
  'number' in name
    ? { join: empty, condition: sql`p.id = ${name.number}` }
    : { join: raw('join routes r on r.project_id = p.id'), condition: sql`r.path_key = lower(${name.path})` }

const found = forCaller((caller, name) => {
  const { join, condition } = named(name)
  return sql`select ${columns}, ${levelOf(caller)} as level${limitsColumn(caller)} from projects p ${join} where ${condition} and not p.deleting`
})

/** One statement. Projects that are being removed are not found. */
export const findProject = (db: Db, caller: Caller, idOrPath: number | string): Promise<ProjectRow | undefined> =>
  db.row<ProjectRow>(found(caller, idOrPath))

/**
 * Which version of a project's record is meant, and how the caller stands to it. `stamp` changes with every row that the
 * record shows something of, and with the caller's level and memberships: a row of a table is told from its other versions
 * by its transaction and place. Whom the project is shared with is in its own row's version (0008_shares_touch_projects.sql).
 */
export type ProjectStamp = { id: number; stamp: string }

type Membership = { access_level: number; notification_level: number }

/** Everything the full record shows. */
export type ProjectRecordRow = ProjectRow & {
  /** See ProjectStamp. */
  stamp: string
  description: string | null
  creator_id: number | null
  topics: string[]
  avatar: string | null
  star_count: number
  forks_count: number
  open_issues_count: number
  import_error: string | null
  runners_token: string
  settings: Partial<ProjectSettings>
  readme_path: string | null
  license_path: string | null
  license_key: string | null
  created_at: Timestamp
  last_activity_at: Timestamp
  marked_for_deletion_on: DateOnly | null
  namespace_name: string
  namespace_path: string
  namespace_kind: 'user' | 'group'
  namespace_full_path: string
  namespace_full_name: string
  namespace_parent_id: number | null
  namespace_avatar: string | null
  /** Null leaves it to the installation. */
  namespace_lfs_enabled: boolean | null
  owner: (UserReferenceRow & { created_at: Timestamp }) | null
  has_repository: boolean
  project_member: Membership | null
  group_member: Membership | null
  shared_with_groups: {
    group_id: number
    group_name: string
    group_full_path: string
    group_access_level: number
    expires_at: DateOnly | null
  }[]
  forked_from: ForkSource | null
  /** Only when asked for. */
  statistics?: ProjectStatistics | null
  custom_attributes?: { key: string; value: string }[]
}

export type ForkSource = {
  id: number
  description: string | null
  name: string
  path: string
  full_path: string
  namespace_full_name: string
  default_branch: string | null
  topics: string[]
  created_at: Timestamp
  last_activity_at: Timestamp
  avatar: string | null
  star_count: number
  forks_count: number
  readme_path: string | null
  visibility: number
}

export type ProjectStatistics = {
  commit_count: number
  repository_size: number
  wiki_size: number
  lfs_objects_size: number
  job_artifacts_size: number
  packages_size: number
}

export type RecordOptions = {
  statistics?: boolean
  customAttributes?: boolean
  /** The highest membership among the group and its ancestors rather than that of the group itself. */
  inheritedMembership?: boolean
}

/** Projects the caller may know about: SQL twin of `projectPolicy.read_project`. */
export function visibleProjects(caller: Caller): Sql {
  if (caller === null) return sql`p.visibility = ${visibilities.public}`
  if (caller.admin) return raw('true')
  const open = caller.external ? visibilities.public : visibilities.internal
  const visible = sql`(p.visibility >= ${open} or ${projectWhere(caller, levels.guest, raw('p.id'), raw('p.namespace_id'))})`
  return caller.limits
    ? sql`(${visible} and ${projectWithinLimits(caller, raw('p.id'), raw('p.namespace_id'))})`
    : visible
}

/** Projects whose code the caller may read: SQL twin of `projectPolicy.read_code`, for what is visible to him. */
export function readableCode(caller: Caller): Sql {
  const { disabled, enabled } = featureLevels
  if (caller?.admin) return sql`p.repository_access_level > ${disabled}`
  const everyones = sql`p.repository_access_level >= ${enabled}`
  if (caller === null) return sql`(p.visibility = ${visibilities.public} and ${everyones})`
  const open = caller.external ? visibilities.public : visibilities.internal
  return sql`(p.repository_access_level > ${disabled} and (${memberAtLeast(caller, levels.reporter)}
    or (p.visibility >= ${open} and (${everyones} or ${memberAtLeast(caller, levels.guest)}))))`
}

const memberAtLeast = (actor: Actor, level: number): Sql =>
  projectWhere(actor, level, raw('p.id'), raw('p.namespace_id'))

/** The same for one project: asks for its level rather than for all that the caller has a level in. */
function visibleProject(caller: Caller): Sql {
  if (caller === null || caller.admin) return visibleProjects(caller)
  const open = caller.external ? visibilities.public : visibilities.internal
  const visible = sql`(p.visibility >= ${open} or ${levelOf(caller)} >= ${levels.guest})`
  return caller.limits
    ? sql`(${visible} and ${projectWithinLimits(caller, raw('p.id'), raw('p.namespace_id'))})`
    : visible
}

/** `shown` of the caller's membership `m`: of the project, or of its group and with `inherited` the highest of those above. */
const membership = (caller: Caller, of: 'project' | 'group', inherited: boolean | undefined, shown: Sql): Sql => {
  if (caller === null) return raw('null')
  const valid = sql`m.user_id = ${caller.id} and (m.expires_at is null or m.expires_at > current_date)`
  if (of === 'project') return sql`(select ${shown} from members m where m.project_id = p.id and ${valid})`
  return sql`case when n.kind = 'group' then (select ${shown} from members m where ${
    inherited ? raw('m.namespace_id = any(n.traversal_ids)') : raw('m.namespace_id = n.id')
  } and ${valid} ${inherited ? raw('order by m.access_level desc limit 1') : empty}) end`
}

const versionOf = (alias: string): Sql => raw(`${alias}.xmin, ${alias}.ctid`)

const membershipVersion = raw(`m.access_level || '.' || m.notification_level`)
const membershipJson = raw(
  `json_build_object('access_level', m.access_level, 'notification_level', m.notification_level)`,
)

/** What an administrator sees does not depend on his level. */
const stampOf = (
  caller: Caller,
  { inheritedMembership: inherited }: RecordOptions,
  level = levelOf(caller),
): Sql => sql`
  concat_ws(' ', ${versionOf('p')}, ${versionOf('n')},
    case when n.kind = 'user' then (select concat_ws(' ', 'o', ${versionOf('u')}) from users u where u.id = n.owner_id) end,
    case when p.forked_from_project_id is not null then ${forkSource(caller, sql`concat_ws(' ', 'f', ${versionOf('p')}, ${versionOf('n')})`)} end,
    ${caller === null || caller.admin ? empty : sql`${level},`}
    'p' || ${membership(caller, 'project', inherited, membershipVersion)},
    'g' || ${membership(caller, 'group', inherited, membershipVersion)})`

const tables = raw('from projects p join namespaces n on n.id = p.namespace_id')

/** `select … from projects p …` for ProjectStamp. */
export const stampSelect = (caller: Caller, options: RecordOptions): Sql =>
  sql`select p.id, ${stampOf(caller, options)} as stamp ${tables}`

/** `select … from projects p …` for full records, a page or one: one statement whatever the number. */
export const recordSelect = (caller: Caller, options: RecordOptions): Sql => sql`
  select ${columns}, ${levelOf(caller)} as level, ${stampOf(caller, options)} as stamp,
    ${membership(caller, 'project', options.inheritedMembership, membershipJson)} as project_member,
    ${membership(caller, 'group', options.inheritedMembership, membershipJson)} as group_member, p.description, p.creator_id, p.topics, p.avatar, p.star_count, p.forks_count,
    p.open_issues_count, p.import_error, p.runners_token, p.settings, p.readme_path, p.license_path, p.license_key,
    p.created_at, p.last_activity_at, p.marked_for_deletion_on,
    n.name as namespace_name, n.path as namespace_path, n.kind as namespace_kind, n.full_path as namespace_full_path,
    n.full_name as namespace_full_name, n.parent_id as namespace_parent_id, n.avatar as namespace_avatar,
    n.lfs_enabled as namespace_lfs_enabled,
    case when n.kind = 'user' then
      (select (${userReferenceJson('u')})::jsonb || jsonb_build_object('created_at', ${wireTime(raw('u.created_at'))}) from users u where u.id = n.owner_id)
    end as owner,
    p.default_branch is not null as has_repository,
    coalesce((select json_agg(json_build_object('group_id', g.id, 'group_name', g.name, 'group_full_path', g.full_path,
        'group_access_level', l.group_access, 'expires_at', l.expires_at) order by l.id)
      from project_group_links l join namespaces g on g.id = l.group_id where l.project_id = p.id), '[]') as shared_with_groups,
    case when p.forked_from_project_id is not null then ${forkSource(caller, forkSourceJson)} end as forked_from
    ${options.statistics ? raw(`, (select to_json(s) from project_statistics s where s.project_id = p.id) as statistics`) : empty}
    ${
      options.customAttributes
        ? raw(
            `, coalesce((select json_agg(json_build_object('key', a.key, 'value', a.value) order by a.id) from custom_attributes a where a.project_id = p.id), '[]') as custom_attributes`,
          )
        : empty
    }
  ${tables}`

const forkSourceJson = sql`json_build_object('id', p.id, 'description', p.description, 'name', p.name, 'path', p.path, 'full_path', p.full_path,
  'namespace_full_name', n.full_name, 'default_branch', p.default_branch, 'topics', p.topics, 'created_at', ${wireTime(raw('p.created_at'))},
  'last_activity_at', ${wireTime(raw('p.last_activity_at'))}, 'avatar', p.avatar, 'star_count', p.star_count, 'forks_count', p.forks_count,
  'readme_path', p.readme_path, 'visibility', p.visibility)`

/** What a fork shows of its source, if the caller may know about that. */
function forkSource(caller: Caller, shown: Sql): Sql {
  // The alias `p` is the source in here, so that the twin of read_project applies to it.
  return sql`(select ${shown}
    from (select p.forked_from_project_id as source_id) as fork join projects p on p.id = fork.source_id
    join namespaces n on n.id = p.namespace_id where not p.deleting and ${visibleProject(caller)})`
}

/** What rules on a project ask, with the stamp of its record. One statement. */
export const findStampedProject = (
  db: Db,
  caller: Caller,
  idOrPath: number | string,
): Promise<(ProjectRow & ProjectStamp) | undefined> => db.row(stamped(caller, idOrPath))

const stamped = forCaller((caller, name) => {
  const { join, condition } = named(name)
  // `offset 0` keeps the level from being looked up once for each of its uses.
  return sql`select ${columns}, own.level, ${stampOf(caller, { inheritedMembership: true }, raw('own.level'))} as stamp${limitsColumn(caller)}
    ${tables} cross join lateral (select ${levelOf(caller)} as level offset 0) as own ${join} where ${condition} and not p.deleting`
})

/** Full records of these projects, in no order. */
export const listProjectRecords = (
  db: Db,
  caller: Caller,
  ids: readonly number[],
  options: RecordOptions,
): Promise<ProjectRecordRow[]> =>
  db.rows(sql`${recordSelect(caller, options)} where p.id = any(${ids}::bigint[]) and not p.deleting`)

export function findProjectRecord(
  db: Db,
  caller: Caller,
  idOrPath: number | string,
  options: RecordOptions = {},
): Promise<ProjectRecordRow | undefined> {
  const { join, condition } = named(typeof idOrPath === 'number' ? { number: idOrPath } : { path: idOrPath })
  return db.row<ProjectRecordRow>(
    sql`${recordSelect(caller, { inheritedMembership: true, ...options })} ${join} where ${condition} and not p.deleting`,
  )
}

export type NewProject = FeatureLevels & {
  namespaceId: number
  creatorId: number
  name: string
  path: string
  fullPath: string
  description: string | null
  visibility: number
  topics: readonly string[]
  settings: Partial<ProjectSettings>
  storage: string
  runnersToken: string
}

export const insertProject = async (tx: Tx, project: NewProject): Promise<number> =>
  (await tx.row<{ id: number }>(sql`
    with made as (
      insert into projects (namespace_id, creator_id, name, path, full_path, description, visibility, topics, settings, repository_storage, runners_token,
        issues_access_level, repository_access_level, merge_requests_access_level, builds_access_level, wiki_access_level,
        snippets_access_level, pages_access_level, forking_access_level)
      values (${project.namespaceId}, ${project.creatorId}, ${project.name}, ${project.path}, ${project.fullPath},
        ${project.description}, ${project.visibility}, ${project.topics}, ${JSON.stringify(project.settings)}::jsonb, ${project.storage}, ${project.runnersToken},
        ${project.issues_access_level}, ${project.repository_access_level}, ${project.merge_requests_access_level},
        ${project.builds_access_level}, ${project.wiki_access_level}, ${project.snippets_access_level},
        ${project.pages_access_level}, ${project.forking_access_level})
      returning id),
    counted as (insert into project_statistics (project_id) select id from made)
    select id from made`))!.id

/** The creator's own membership, beside what his group gives him. */
export const insertProjectMember = (tx: Tx, projectId: number, userId: number, level: number): Promise<number> =>
  tx.run(
    sql`insert into members (project_id, user_id, access_level, created_by_id) values (${projectId}, ${userId}, ${level}, ${userId})`,
  )

/** How many projects lie in somebody's personal namespace. */
export const countPersonalProjects = async (db: Db, userId: number): Promise<number> =>
  (await db.row<{ count: number }>(sql`
    select count(*) as count from projects p join namespaces n on n.id = p.namespace_id where n.owner_id = ${userId} and not p.deleting`))!
    .count

/** How many personal projects somebody may have. Holds off other creations in his namespace until the transaction ends. */
export const lockProjectsLimit = async (tx: Tx, userId: number): Promise<number> =>
  (await tx.row<{ projects_limit: number }>(
    sql`select projects_limit from users where id = ${userId} for no key update`,
  ))!.projects_limit

/** Where the wiki of a project at this path lies, or whose wiki lies at it. */
const wikiTwin = (fullPath: string): string => (/\.wiki$/i.test(fullPath) ? fullPath.slice(0, -5) : `${fullPath}.wiki`)

/**
 * Complaints about a name and path that another project has. A path that is another's wiki, or whose wiki would be
 * another project, is complained about under the name, as it always was. Those being removed still have theirs.
 */
export async function takenNames(
  db: Db,
  project: { namespaceId: number; name: string; fullPath: string; projectId?: number },
): Promise<{ name: string[]; path: string[] }> {
  const others = project.projectId === undefined ? raw('true') : sql`r.project_id is distinct from ${project.projectId}`
  const { projectId = null } = project
  const found = (await db.row<{ name: boolean; path: boolean; wiki: boolean }>(sql`select
    exists (select from projects where namespace_id = ${project.namespaceId} and name = ${project.name} and id is distinct from ${projectId}::bigint) as name,
    exists (select from routes r where r.path_key = lower(${project.fullPath}) and not r.redirect and ${others}) as path,
    exists (select from routes r where r.path_key = lower(${wikiTwin(project.fullPath)}) and r.project_id is not null and not r.redirect and ${others}) as wiki`))!
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
  }
> & { settings?: Partial<ProjectSettings> }

const editable = new Set([
  'name',
  'path',
  'full_path',
  'description',
  'visibility',
  'default_branch',
  'topics',
  'archived',
  'issues_access_level',
  'repository_access_level',
  'merge_requests_access_level',
  'builds_access_level',
  'wiki_access_level',
  'snippets_access_level',
  'pages_access_level',
  'forking_access_level',
])

export function updateProject(tx: Tx, id: number, { settings, ...columns }: ProjectChanges): Promise<number> {
  let assignments = sql`updated_at = now()`
  for (const [name, value] of Object.entries(columns)) {
    if (!editable.has(name)) throw new Error(`not a column to edit: ${name}`)
    assignments = sql`${assignments}, ${raw(name)} = ${value}`
  }
  if (settings && Object.keys(settings).length > 0)
    assignments = sql`${assignments}, settings = settings || ${JSON.stringify(settings)}::jsonb`
  return tx.run(sql`update projects set ${assignments} where id = ${id}`)
}

/** Locks the project against other edits until the transaction ends. */
export const lockProject = (tx: Tx, id: number): Promise<ProjectRow | undefined> =>
  tx.row<ProjectRow>(
    sql`select ${columns}, null as level from projects p where p.id = ${id} and not p.deleting for update`,
  )

/** The visibility of what a project was forked from, which stays until the transaction ends. Undefined without a source. */
export const lockForkSource = async (tx: Tx, projectId: number): Promise<number | undefined> =>
  (
    await tx.row<{ visibility: number }>(sql`
      select s.visibility from projects p join projects s on s.id = p.forked_from_project_id
      where p.id = ${projectId} and not s.deleting for share of s`)
  )?.visibility

/** From here on nobody finds it; a job removes it for good. */
export const markDeleting = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`update projects set deleting = true, updated_at = now() where id = ${id} and not deleting`)

/** As `markDeleting`, if it is still marked and was put away at least `days` ago. `undefined` when it is not. */
export const markDueDeleting = (tx: Tx, id: number, days: number): Promise<{ full_path: string } | undefined> =>
  tx.row(sql`update projects set deleting = true, updated_at = now()
    where id = ${id} and not deleting and marked_for_deletion_on <= current_date - ${days}::integer returning full_path`)

/** Puts it away for `days`, read-only. */
export const markForDeletion = (tx: Tx, id: number): Promise<number> =>
  tx.run(
    sql`update projects set archived = true, marked_for_deletion_on = coalesce(marked_for_deletion_on, current_date), updated_at = now() where id = ${id}`,
  )

/** A project that is being removed. */
export const findDeleting = (db: Db, id: number): Promise<{ id: number; repository_storage: string } | undefined> =>
  db.row(sql`select id, repository_storage from projects where id = ${id} and deleting`)

export const deleteProjectRow = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`delete from projects where id = ${id} and deleting`)

/** Projects put away at least `days` ago. */
export async function dueForRemoval(db: Db, days: number): Promise<number[]> {
  const rows = await db.rows<{ id: number }>(sql`
    select id from projects where marked_for_deletion_on <= current_date - ${days}::integer and not deleting order by id limit 1000`)
  return rows.map(({ id }) => id)
}

/** The kind of namespace a project lies in. */
export const namespaceKindOf = async (db: Db, id: number): Promise<'user' | 'group'> =>
  (
    await db.row<{ kind: 'user' | 'group' }>(
      sql`select n.kind from projects p join namespaces n on n.id = p.namespace_id where p.id = ${id}`,
    )
  )?.kind ?? 'group'
