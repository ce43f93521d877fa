import type { Actor, Caller } from '../../../access/actor.ts'
import { featureLevels, visibilities } from '../../../access/levels.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { groupsOfMember, groupWithinLimits } from '../../namespaces/index.ts'
import { memberAtLeast, membersOf, openVisibility, readableFeature, visibleProjects } from '../../projects/index.ts'
import { featureOf, kindOf, lowestReader, type NoteableType, type ProjectType } from './kinds.ts'

const { disabled, enabled } = featureLevels

/** How statements speak of what holds noteables. The project is named `p`, the group `g`, the noteable `m`, a user `u`. */
type HolderSql = {
  readonly alias: 'p' | 'g'
  readonly table: 'projects' | 'namespaces'
  /** The column with its id in tables of noteables and in `routes`. */
  readonly column: 'project_id' | 'namespace_id'
  /** The caller may see that it exists, apart from what decides about the kind. */
  readonly visible: (caller: Caller) => Sql
  /** The caller is a member at this level or above. */
  readonly memberAtLeast: (caller: Actor, level: number) => Sql
  /** The user `u` is a member at this level or above. */
  readonly hasMember: (level: Sql) => Sql
  /** The feature of this kind is on, and is on for all who see the holder. */
  readonly offers: (type: NoteableType) => Sql
  readonly offersToAll: (type: NoteableType) => Sql
  /** The lowest level that has the feature of this kind where it is for members only. */
  readonly offeredFrom: (type: NoteableType) => number
  /** The caller may read this kind there, given that the holder is visible. */
  readonly readable: (type: NoteableType, caller: Caller) => Sql
}

const memberOfGroup = (groupId: Sql, level: Sql): Sql => sql`
  exists (
    select
    from group_access a
    where a.user_id = u.id and a.group_id = ${groupId} and a.level >= ${level} and a.expires_on > current_date
  )
`

const feature = (type: NoteableType): Sql => raw(`p.${featureOf(type as ProjectType)}`)

const projects: HolderSql = {
  alias: 'p',
  table: 'projects',
  column: 'project_id',
  visible: visibleProjects,
  memberAtLeast,
  hasMember: (level) => sql`
    (
      ${memberOfGroup(raw('p.namespace_id'), level)}
      or exists (
        select
        from project_access a
        where a.user_id = u.id and a.project_id = p.id and a.level >= ${level} and a.expires_on > current_date
      )
    )
  `,
  offers: (type) => sql`${feature(type)} > ${disabled}`,
  offersToAll: (type) => sql`${feature(type)} >= ${enabled}`,
  offeredFrom: (type) => membersOf(featureOf(type as ProjectType)),
  readable: (type, caller) =>
    readableFeature(caller, featureOf(type as ProjectType), kindOf(type).readableFrom, kindOf(type).open),
}

/** Twin of the ability to read the kind in the policy of its module: members, and others where the group is open to them. */
function readableInGroup(type: NoteableType, caller: Caller): Sql {
  const { open } = kindOf(type)
  if (caller === null) return open === 'anyone' ? sql`g.visibility = ${visibilities.public}` : raw('false')
  if (caller.admin) return raw('true')
  return sql`(g.visibility >= ${openVisibility(caller)} or ${groupsOfMember(caller.id, lowestReader(type))})`
}

const groups: HolderSql = {
  alias: 'g',
  table: 'namespaces',
  column: 'namespace_id',
  visible: (caller) => groupWithinLimits(caller, raw('g.id')),
  memberAtLeast: (caller, level) => groupsOfMember(caller.id, level),
  hasMember: (level) => memberOfGroup(raw('g.id'), level),
  offers: () => raw('true'),
  offersToAll: () => raw('true'),
  offeredFrom: lowestReader,
  readable: readableInGroup,
}

export const holderOf = (type: NoteableType): HolderSql => (kindOf(type).holder.of === 'project' ? projects : groups)

/** Joins the holder by its id in the row of this alias: the noteable, or a route. */
export function joinHolder(type: NoteableType, by = 'm'): Sql {
  const { table, alias, column } = holderOf(type)
  return raw(`join ${table} ${alias} on ${alias}.id = ${by}.${column}`)
}

/**
 * Begins a statement that locks a noteable, and joins `place`: it locks the holder first, as a transfer does, which waits for it. What is
 * written about a noteable, such as notes, refers to the holder and would lock it later.
 */
export const withPlaceOf = (type: NoteableType, id: number): Sql => sql`
  with place as materialized (
    select ${holderId(type)}
    from ${raw(kindOf(type).table)} m ${joinHolder(type)}
    where m.id = ${id}
    for key share of ${raw(holderOf(type).alias)}
  )
`

/** The noteable `m` belongs to the holder, which is joined. */
export function isHeld(type: NoteableType): Sql {
  const { alias, column } = holderOf(type)
  return raw(`m.${column} = ${alias}.id`)
}

/** The full path of the holder, which is joined. */
export const holderPath = (type: NoteableType): Sql => raw(`${holderOf(type).alias}.full_path`)

/** The id of the holder, which is joined. */
export const holderId = (type: NoteableType): Sql => raw(`${holderOf(type).alias}.id`)

/** The holder, which is joined, is not being deleted. */
export const holderRemains = (type: NoteableType): Sql => raw(`not ${holderOf(type).alias}.deleting`)

/** The holder, which is joined, is not being deleted, and the caller may see it. */
export const visibleHolder = (type: NoteableType, caller: Caller): Sql =>
  sql`(${holderRemains(type)} and ${holderOf(type).visible(caller)})`

/** The visibility of the holder makes it open to the user `u`. */
export function openTo(type: NoteableType): Sql {
  const visibility = raw(`${holderOf(type).alias}.visibility`)
  return sql`(${visibility} = ${visibilities.public} or (${visibility} = ${visibilities.internal} and not u.external))`
}
