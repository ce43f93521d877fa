import type { Caller } from '../../../access/actor.ts'
import { type Level, levels, visibilities } from '../../../access/levels.ts'
import { asColumns, join, literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { openVisibility } from '../../projects/index.ts'
import { holderOf, joinHolder, openTo, visibleHolder } from './holder-queries.ts'
import {
  assignedTables,
  kindOf,
  lowestReader,
  type NoteableType,
  type NumberedType,
  type PlannedType,
  projectTypes,
  type ScheduledType,
} from './kinds.ts'
import type { Noteable } from './noteable.ts'

/** The table of a kind. */
export const tableOf = (type: NoteableType): Sql => raw(kindOf(type).table)

/** The table of the labels of a kind. */
export const labelsTableOf = (type: PlannedType): Sql => raw(kindOf(type).planned!.labels)

/** The table of the assignees of a kind. */
export const assigneesTableOf = (type: ScheduledType): Sql => raw(assignedTables(type)[0]!)

/** The rows of a kind, found by their time of update: all columns of its table. */
export const byUpdateOf = (type: ScheduledType): Sql => raw(kindOf(type).planned!.scheduled!.updates.view)

/** The table of times of update, `id` and `updated_at`, of a kind. */
export const updatesTableOf = (type: ScheduledType): Sql => raw(kindOf(type).planned!.scheduled!.updates.table)

/** The number by which references name the row of this alias. */
export const numberOf = (type: NoteableType, alias: string): Sql => raw(`${alias}.${kindOf(type).number}`)

/** The column with the id of a noteable of a kind: `merge_request_id`. */
export const columnOf = (type: NoteableType): Sql => raw(kindOf(type).column)

/**
 * The column of notes with the id of a noteable of a kind whose text mentions another: `source_merge_request_id`. A text about a commit mentions
 * as the commit does: by `source_commit`.
 */
export const sourceColumnOf = (type: NumberedType): Sql => raw(`source_${kindOf(type).column}`)

/** Condition on a row of this alias: it belongs to the noteable. */
export const isAbout = (alias: string, { type, id }: Pick<Noteable, 'type' | 'id'>): Sql =>
  sql`${raw(`${alias}.${kindOf(type).column}`)} = ${id}`

/** Condition on a row of this alias: it belongs to a noteable of this kind. */
export const isAboutKind = (alias: string, type: NoteableType): Sql =>
  raw(`${alias}.${kindOf(type).column} is not null`)

/**
 * Condition on the user `u`: may read noteables of this kind in the project `p` or the group `g`, apart from those that are hidden. SQL
 * twin of the ability to read them in the policy.
 */
export function mayRead(type: NoteableType): Sql {
  const { hasMember, offers, offersToAll, offeredFrom } = holderOf(type)
  // In a holder that is open to them, members below the lowest reader read as other users do, if the feature is for members.
  const offered =
    offeredFrom(type) < lowestReader(type)
      ? sql`(${offersToAll(type)} or ${hasMember(literal(offeredFrom(type)))})`
      : offersToAll(type)
  return sql`
    (${offers(type)} and (u.admin or ${hasMember(literal(lowestReader(type)))} or (${offered} and ${openTo(type)})))
  `
}

/** Condition on the user `u`: is a person who can act, and may read noteables of this kind as far as `mayRead` says. */
export const readersOf = (type: NoteableType): Sql =>
  sql`(u.kind = 'human' and u.state = 'active' and ${mayRead(type)})`

/** Condition on the user `u`: a member of the project `p` or the group `g` of noteables of this kind, at this level or above. */
export const isMemberFrom = (type: NoteableType, level: Level): Sql => holderOf(type).hasMember(literal(levels[level]))

/** Condition on the user `u`: can act, and may read the noteable `m` of this kind in the project `p` or the group `g`. */
export function readersOfRow(type: NoteableType): Sql {
  const { hiddenBy } = kindOf(type)
  if (hiddenBy === undefined) return readersOf(type)
  const [shown, from] =
    hiddenBy === 'confidential'
      ? [raw('not m.confidential'), levels.reporter]
      : [
          sql`
            m.visibility >= case
              when u.external then ${literal(visibilities.public)}
              else ${literal(visibilities.internal)}
            end
          `,
          levels.guest,
        ]
  const isMember = holderOf(type).hasMember(literal(from))
  return sql`(${readersOf(type)} and (${shown} or u.admin or ${participatesIn(type, raw('u.id'))} or ${isMember}))`
}

/** Whether a user is the author or an assignee of the noteable `m`: these read it even if it is hidden from others. */
const participatesIn = (type: NoteableType, userId: Sql): Sql => {
  const { column } = kindOf(type)
  const among = assignedTables(type).map(
    (table) => sql`exists (select from ${raw(table)} a where a.${raw(column)} = m.id and a.user_id = ${userId})`,
  )
  return sql`(${join([sql`m.author_id = ${userId}`, ...among], ' or ')})`
}

/** The caller may read noteables of this kind in the project `p` or the group `g`, given that it is visible: twin of `readersOf`. */
export const readableKind = (type: NoteableType, caller: Caller): Sql => holderOf(type).readable(type, caller)

/** The caller may read the noteable `m` in a visible project `p` or group `g`: twin of `readersOfRow`. */
export const readableRow = (type: NoteableType, caller: Caller): Sql =>
  sql`(${readableKind(type, caller)} and ${notHidden(type, caller)})`

/** The caller may read the noteable with this id. Looks up its holder. */
export const readableById = (type: NoteableType, id: Sql, caller: Caller): Sql => sql`
  exists (
    select
    from ${tableOf(type)} m ${joinHolder(type)}
    where m.id = ${id} and ${visibleHolder(type, caller)} and ${readableRow(type, caller)}
  )
`

/** The caller may read the noteable that a row of this alias is about, in a visible project `p`. */
export const readableAbout = (alias: string, caller: Caller, types: readonly NoteableType[] = projectTypes): Sql => {
  const readable = (type: NoteableType): Sql => {
    if (kindOf(type).holder.of === 'group') return readableById(type, sql`${raw(alias)}.${columnOf(type)}`, caller)
    if (!kindOf(type).hiddenBy) return readableKind(type, caller)
    return sql`
      exists (
        select from ${tableOf(type)} m where m.id = ${raw(alias)}.${columnOf(type)} and ${readableRow(type, caller)}
      )
    `
  }
  return sql`case ${join(
    types.map((type) => sql`when ${isAboutKind(alias, type)} then ${readable(type)}`),
    ' ',
  )} end`
}

/** The type of the noteable that a row of this alias is about. */
export const aboutType = (alias: string, types: readonly NoteableType[]): Sql =>
  raw(`case ${types.map((type) => `when ${alias}.${kindOf(type).column} is not null then '${type}'`).join(' ')} end`)

/** Its id. */
export const aboutId = (alias: string, types: readonly NoteableType[]): Sql =>
  raw(`coalesce(${types.map((type) => `${alias}.${kindOf(type).column}`).join(', ')})`)

/** Both as columns. */
export const aboutColumns = (alias: string, types: readonly NoteableType[]): Sql =>
  asColumns({ noteable_type: aboutType(alias, types), noteable_id: aboutId(alias, types) })

/**
 * The caller may read the noteable `m` in the project `p` or the group `g`, given that they read others there: `hidden` of its policy is
 * not set.
 */
export function notHidden(type: NoteableType, caller: Caller): Sql {
  const { hiddenBy } = kindOf(type)
  if (hiddenBy === undefined || caller?.admin) return raw('true')
  const [shown, from] =
    hiddenBy === 'confidential'
      ? [raw('not m.confidential'), levels.reporter]
      : [sql`m.visibility >= ${openVisibility(caller)}`, levels.guest]
  if (caller === null) return shown
  return sql`(${shown} or ${participatesIn(type, sql`${caller.id}`)} or ${holderOf(type).memberAtLeast(caller, from)})`
}
