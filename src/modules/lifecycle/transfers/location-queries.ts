import type { Actor } from '../../../access/actor.ts'
import { levels } from '../../../access/levels.ts'
import type { List } from '../../../api/list.ts'
import { fuzzy } from '../../../db/fuzzy.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { groupsOfMember, groupWithinLimits, within } from '../../namespaces/index.ts'

const notImporting = raw('not exists (select from archive_imports i where i.namespace_id = g.id)')

/** Rows are GroupReferenceRow. Groups that are being imported take nothing. */
const groups = (where: readonly Sql[], search: string | undefined): List => ({
  type: 'Group',
  select: raw('select g.id, g.name, g.full_name, g.full_path, g.avatar from namespaces g'),
  from: raw('from namespaces g'),
  where: [
    raw(`g.kind = 'group' and not g.deleting`),
    notImporting,
    ...where,
    ...(search?.trim() ? [fuzzy(search, ['g.name', 'g.path'])] : []),
  ],
  order: [{ by: raw('g.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

/**
 * Groups into which the caller may move a project: SQL twin of `mayCreateProjects`, which does not apply to
 * administrators.
 */
export const locationsForProject = (
  actor: Actor,
  project: { readonly namespace_id: number },
  search: string | undefined,
): List =>
  groups(
    [
      sql`g.id <> ${project.namespace_id}`,
      actor.admin ? raw('true') : actor.limits ? raw('false') : takingProjects(actor),
    ],
    search,
  )

const takingProjects = ({ id }: Actor): Sql => sql`
  (
    g.project_creation_level <> 'noone'
    and (
      ${groupsOfMember(id, levels.maintainer)}
      or (g.project_creation_level = 'developer' and ${groupsOfMember(id, levels.developer)})
    )
  )
`

/**
 * Groups below which the caller may move a group: SQL twin of `groupPolicy.create_subgroup`. Excludes its current
 * parent and its own subtree.
 */
export const locationsForGroup = (
  actor: Actor,
  group: { readonly parent_id: number | null; readonly traversal_ids: readonly number[] },
  search: string | undefined,
): List =>
  groups(
    [
      sql`not (${within(raw('g.traversal_ids'), sql`${group.traversal_ids}::bigint[]`)})`,
      ...(group.parent_id === null ? [] : [sql`g.id <> ${group.parent_id}`]),
      actor.admin ? raw('true') : takingSubgroups(actor),
      groupWithinLimits(actor, raw('g.id')),
    ],
    search,
  )

const takingSubgroups = ({ id }: Actor): Sql => sql`
  (
    ${groupsOfMember(id, levels.owner)}
    or (g.subgroup_creation_level = 'maintainer' and ${groupsOfMember(id, levels.maintainer)})
  )
`
