import type { Caller } from '../../../access/actor.ts'
import { featureLevels, levels, visibilities } from '../../../access/levels.ts'
import { join, literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { memberAtLeast, openVisibility, readableFeature } from '../../projects/index.ts'
import { kindOf, lowestReader, type NoteableType, noteableTypes, type PlannedType } from './kinds.ts'
import type { Noteable } from './noteable.ts'

const { disabled, enabled } = featureLevels

/** The table of a kind. */
export const tableOf = (type: NoteableType): Sql => raw(kindOf(type).table)

/** The table of the labels of a kind. */
export const labelsTableOf = (type: PlannedType): Sql => raw(kindOf(type).planned!.labels)

/** The table of the assignees of a kind. */
export const assigneesTableOf = (type: PlannedType): Sql => raw(kindOf(type).planned!.assigned[0]!)

/** The number by which references name the row of this alias. */
export const numberOf = (type: NoteableType, alias: string): Sql => raw(`${alias}.${kindOf(type).number}`)

/** The column with the id of a noteable of a kind: `merge_request_id`. */
export const columnOf = (type: NoteableType): Sql => raw(kindOf(type).column)

/** The column of notes with the id of a noteable of a kind whose text mentions another: `source_merge_request_id`. */
export const sourceColumnOf = (type: NoteableType): Sql => raw(`source_${kindOf(type).column}`)

/** Condition on a row of this alias: it belongs to the noteable. */
export const isAbout = (alias: string, { type, id }: Pick<Noteable, 'type' | 'id'>): Sql =>
  sql`${raw(`${alias}.${kindOf(type).column}`)} = ${id}`

/** Condition on a row of this alias: it belongs to a noteable of this kind. */
export const isAboutKind = (alias: string, type: NoteableType): Sql =>
  raw(`${alias}.${kindOf(type).column} is not null`)

/** Whether the user `u` is a member of the project `p` at this level or above. */
const isMember = (level: Sql): Sql => sql`
  (
    exists (
      select
      from group_access a
      where a.user_id = u.id and a.group_id = p.namespace_id and a.level >= ${level} and a.expires_on > current_date
    )
    or exists (
      select
      from project_access a
      where a.user_id = u.id and a.project_id = p.id and a.level >= ${level} and a.expires_on > current_date
    )
  )
`

/**
 * Condition on the user `u`: can act, and may read noteables of this kind in the project `p`, apart from confidential ones. SQL twin of
 * the ability to read them in `projectPolicy`.
 */
export function readersOf(type: NoteableType): Sql {
  const [feature, lowest] = [raw(`p.${kindOf(type).feature}`), literal(lowestReader(type))]
  return sql`
    (
      u.kind = 'human'
      and u.state = 'active'
      and ${feature} > ${disabled}
      and (
        u.admin
        or ${isMember(lowest)}
        or (
          ${feature} >= ${enabled}
          and (p.visibility = ${visibilities.public} or (p.visibility = ${visibilities.internal} and not u.external))
        )
      )
    )
  `
}

/** Condition on the user `u`: can act, and may read the noteable `m` of this kind in the project `p`. */
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
  return sql`
    (${readersOf(type)} and (${shown} or u.admin or ${participatesIn(type, raw('u.id'))} or ${isMember(literal(from))}))
  `
}

/** Whether a user is the author or an assignee of the noteable `m`: these read it even if it is hidden from others. */
const participatesIn = (type: NoteableType, userId: Sql): Sql => {
  const { planned, column } = kindOf(type)
  const among = (planned?.assigned ?? []).map(
    (table) => sql`exists (select from ${raw(table)} a where a.${raw(column)} = m.id and a.user_id = ${userId})`,
  )
  return sql`(${join([sql`m.author_id = ${userId}`, ...among], ' or ')})`
}

/** Projects `p` in which the caller may read noteables of this kind, given that the project is visible: twin of `readersOf`. */
export const readableKind = (type: NoteableType, caller: Caller): Sql =>
  readableFeature(caller, kindOf(type).feature, kindOf(type).readableFrom, kindOf(type).open)

/** The caller may read the noteable `m` in a visible project `p`: twin of `readersOfRow`. */
export const readableRow = (type: NoteableType, caller: Caller): Sql =>
  sql`(${readableKind(type, caller)} and ${notHidden(type, caller)})`

/** The caller may read the noteable that a row of this alias is about, in a visible project `p`. */
export const readableAbout = (alias: string, caller: Caller, types: readonly NoteableType[] = noteableTypes): Sql => {
  const cases = types.map(
    (type) => sql`
      when ${isAboutKind(alias, type)} then ${
        kindOf(type).hiddenBy
          ? sql`
            exists (
              select from ${tableOf(type)} m where m.id = ${raw(alias)}.${columnOf(type)} and ${readableRow(type, caller)}
            )
          `
          : readableKind(type, caller)
      }
    `,
  )
  return sql`case ${join(cases, ' ')} end`
}

/** The type and the id of the noteable that a row of this alias is about. */
export const aboutColumns = (alias: string, types: readonly NoteableType[] = noteableTypes): Sql =>
  raw(`
  case ${types.map((type) => `when ${alias}.${kindOf(type).column} is not null then '${type}'`).join(' ')} end as noteable_type,
  coalesce(${types.map((type) => `${alias}.${kindOf(type).column}`).join(', ')}) as noteable_id
`)

/** The caller may read the noteable `m` in the project `p`, given that they read others there: `hidden` of its policy is not set. */
export function notHidden(type: NoteableType, caller: Caller): Sql {
  const { hiddenBy } = kindOf(type)
  if (hiddenBy === undefined || caller?.admin) return raw('true')
  const [shown, from] =
    hiddenBy === 'confidential'
      ? [raw('not m.confidential'), levels.reporter]
      : [sql`m.visibility >= ${openVisibility(caller)}`, levels.guest]
  if (caller === null) return shown
  return sql`(${shown} or ${participatesIn(type, sql`${caller.id}`)} or ${memberAtLeast(caller, from)})`
}
