import type { Actor, Caller } from '../../../access/actor.ts'
import { featureLevels, type Level, levels, visibilities } from '../../../access/levels.ts'
import { featureMembers, lowestOpen } from '../../../access/policy.ts'
import { byKey, type Db } from '../../../db/db.ts'
import { boolean, integer, nullable, oneOf, optional, type RowOf, text, timestamp } from '../../../db/row.ts'
import { empty, literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { passedOn } from '../../../db/table-catalogue.ts'
import {
  deployKeyLevel,
  deployTokenLevel,
  forCaller,
  projectLevel,
  projectWhere,
  projectWithinLimits,
} from '../../namespaces/index.ts'
import { type FeatureColumn, featureLevelsRow } from './features.ts'
import { settingDefaults } from './settings.ts'

/** The columns that every operation on a project needs, with the caller's level: one probe of each index. */
export const projectRow = {
  ...featureLevelsRow,
  id: integer,
  namespace_id: integer,
  full_path: text,
  path: text,
  name: text,
  visibility: integer,
  archived: boolean,
  default_branch: nullable(text),
  import_status: oneOf('none', 'scheduled', 'started', 'finished', 'failed'),
  repository_storage: text,
  repository_key: text,
  updated_at: timestamp,
  /** All readers of the project may read its jobs. */
  public_builds: boolean,
  /** Null without membership. */
  level: nullable(integer),
  /** For limited tokens only. */
  within_limits: optional(boolean),
}
export type ProjectRow = RowOf<typeof projectRow>

const featureColumns = raw(
  'p.issues_access_level, p.repository_access_level, p.merge_requests_access_level, p.builds_access_level, p.wiki_access_level, p.snippets_access_level, p.container_registry_access_level, p.pages_access_level, p.forking_access_level',
)

/** Columns of ProjectRow without the caller's level, of the project with the alias `p`. */
export const columns = sql`
  p.id, p.namespace_id, p.full_path, p.path, p.name, p.visibility, p.archived, p.default_branch, p.import_status,
  p.repository_storage, p.repository_key, p.updated_at,
  coalesce((p.settings ->> 'public_builds')::boolean, ${settingDefaults.public_builds}) as public_builds,
  ${featureColumns}
`

/** The caller's level in the project `p`. */
export const levelOf = (caller: Caller): Sql =>
  caller === null
    ? raw('null::smallint')
    : caller.deployKey
      ? deployKeyLevel(caller.deployKey.id, raw('p.id'))
      : caller.deployToken
        ? deployTokenLevel(caller.deployToken.id, raw('p.id'), raw('p.namespace_id'))
        : projectLevel(caller.id, raw('p.id'), raw('p.namespace_id'))

/** Whether the project `p` is within the limits of the caller's token. */
export const withinLimits = (caller: Actor): Sql => projectWithinLimits(caller, raw('p.id'), raw('p.namespace_id'))

/** `within_limits`, after a comma, for limited tokens; empty for other callers. */
export const limitsColumn = (caller: Caller): Sql =>
  caller?.limits ? sql`, ${withinLimits(caller)} as within_limits` : empty

/** By id, or by full path ignoring case, including redirects. */
export const named = (name: { number: number } | { path: string }): { join: Sql; condition: Sql } =>
  'number' in name
    ? { join: empty, condition: sql`p.id = ${name.number}` }
    : { join: raw('join routes r on r.project_id = p.id'), condition: sql`r.path_key = lower(${name.path})` }

const found = forCaller((caller, name) => {
  const { join, condition } = named(name)
  return sql`
    select ${columns}, ${levelOf(caller)} as level${limitsColumn(caller)}
    from projects p ${join}
    where ${condition} and not p.deleting
  `
})

/** Excludes projects that are being deleted. One statement. */
export const findProject = (db: Db, caller: Caller, idOrPath: number | string): Promise<ProjectRow | undefined> =>
  db.snapshotCache.row(projectRow, byKey(found(caller, idOrPath)))

/** As `findProject`, for several; missing ones are left out. One statement. */
export const findProjects = (db: Db, caller: Caller, ids: readonly number[]): Promise<readonly ProjectRow[]> =>
  db.snapshotCache.rows(
    projectRow,
    byKey(sql`
      select ${columns}, ${levelOf(caller)} as level${limitsColumn(caller)}
      from projects p
      where p.id = any(${ids}::bigint[]) and not p.deleting
    `),
  )

/** Projects the caller may see: SQL twin of `projectPolicy.read_project`. */
export function visibleProjects(caller: Caller): Sql {
  const open = openVisibility(caller)
  if (caller === null) return sql`p.visibility >= ${open}`
  if (caller.admin) return raw('true')
  const visible = sql`
    (p.visibility >= ${open} or ${projectWhere(caller, levels.guest, raw('p.id'), raw('p.namespace_id'))})
  `
  return caller.limits ? sql`(${visible} and ${withinLimits(caller)})` : visible
}

/** `lowestOpen`, written into the text: partial indexes require it. */
export const openVisibility = (caller: Caller): Sql => literal(lowestOpen(caller))

/** The project `p` of each row with this alias, looked up: the planner might read all projects for some hundred rows. */
export const projectOf = (alias: string): Sql =>
  raw(`lateral (select p${passedOn} from projects p where p.id = ${alias}.project_id offset 0) as p`)

/** As `visibleProjects`, for one project: looks up the level there rather than all memberships of the caller. */
export function visibleProject(caller: Caller): Sql {
  if (caller === null || caller.admin) return visibleProjects(caller)
  const open = lowestOpen(caller)
  const visible = sql`(p.visibility >= ${open} or ${levelOf(caller)} >= ${levels.guest})`
  return caller.limits ? sql`(${visible} and ${withinLimits(caller)})` : visible
}

/**
 * Projects whose code the caller may read: SQL twin of `projectPolicy.read_code`, given that the project is visible.
 */
export const readableCode = (caller: Caller): Sql =>
  readableFeature(caller, 'repository_access_level', 'reporter', 'anyone')

/** The lowest level that has a feature which is for members only. */
export const membersOf = (column: FeatureColumn): number => levels[featureMembers(column.replace(/_access_level$/, ''))]

/**
 * Projects `p` where the caller may use a feature, given that the project is visible: those open to the caller in which it is
 * enabled for everyone, and those in which the caller has this level. Anonymous callers may only if it is open to anyone.
 */
export function readableFeature(
  caller: Caller,
  column: FeatureColumn,
  from: Level,
  openTo: 'anyone' | 'signed_in' = 'signed_in',
): Sql {
  const { disabled, enabled } = featureLevels
  const feature = raw(`p.${column}`)
  if (caller === null)
    return openTo === 'anyone'
      ? sql`(p.visibility = ${visibilities.public} and ${feature} >= ${enabled})`
      : raw('false')
  if (caller.admin) return sql`${feature} > ${disabled}`
  const open = lowestOpen(caller)
  const [everyones, members] = [sql`${feature} >= ${enabled}`, membersOf(column)]
  const offered = members < levels[from] ? sql`(${everyones} or ${memberAtLeast(caller, members)})` : everyones
  return sql`
    (${feature} > ${disabled} and (${memberAtLeast(caller, levels[from])} or (p.visibility >= ${open} and ${offered})))
  `
}

/** SQL twin of `projectPolicy.read_wiki`, given that the project is visible. */
export const readableWiki = (caller: Caller): Sql =>
  caller === null
    ? sql`(p.visibility >= ${visibilities.public} and p.wiki_access_level >= ${featureLevels.enabled})`
    : readableFeature(caller, 'wiki_access_level', 'guest')

/** SQL twin of `projectPolicy.read_merge_request`, given that the project is visible. */
export const readableMergeRequests = (caller: Caller): Sql =>
  readableFeature(caller, 'merge_requests_access_level', 'reporter')

/** Whether the caller is a member of the project `p` at this level or above. */
export const memberAtLeast = (actor: Actor, level: number): Sql =>
  projectWhere(actor, level, raw('p.id'), raw('p.namespace_id'))

/** Kind of the namespace of a project. */
export const namespaceKindOf = async (db: Db, id: number): Promise<'user' | 'group'> =>
  (
    await db.row(
      { kind: oneOf('user', 'group') },
      sql`select n.kind from projects p join namespaces n on n.id = p.namespace_id where p.id = ${id}`,
    )
  )?.kind ?? 'group'
