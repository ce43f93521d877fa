import type { Caller } from '../../../access/actor.ts'
import { featureLevels, levels, visibilities } from '../../../access/levels.ts'
import { join, literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { memberAtLeast, readableFeature } from '../../projects/index.ts'
import { kindOf, lowestReader, type NoteableType, noteableTypes } from './kinds.ts'
import type { Noteable } from './noteable.ts'

const { disabled, enabled } = featureLevels

/** The table of a kind. */
export const tableOf = (type: NoteableType): Sql => raw(kindOf(type).table)

/** The table of the labels of a kind. */
export const labelsTableOf = (type: NoteableType): Sql => raw(kindOf(type).labels)

/** The table of the assignees of a kind. */
export const assigneesTableOf = (type: NoteableType): Sql => raw(kindOf(type).assigned[0]!)

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
export const readersOfRow = (type: NoteableType): Sql =>
  kindOf(type).confidential
    ? sql`
      (
        ${readersOf(type)}
        and (
          not m.confidential or u.admin or ${participatesIn(type, raw('u.id'))} or ${isMember(literal(levels.reporter))}
        )
      )
    `
    : readersOf(type)

/** Whether a user is the author or an assignee of the noteable `m`: these read it even if it is confidential. */
const participatesIn = (type: NoteableType, userId: Sql): Sql => {
  const { assigned, column } = kindOf(type)
  const among = assigned.map(
    (table) => sql`exists (select from ${raw(table)} a where a.${raw(column)} = m.id and a.user_id = ${userId})`,
  )
  return sql`(${join([sql`m.author_id = ${userId}`, ...among], ' or ')})`
}

/** Projects `p` in which the caller may read noteables of this kind, given that the project is visible: twin of `readersOf`. */
export const readableKind = (type: NoteableType, caller: Caller): Sql =>
  readableFeature(caller, kindOf(type).feature, kindOf(type).readableFrom)

/** The caller may read the noteable `m` in a visible project `p`: twin of `readersOfRow`. */
export const readableRow = (type: NoteableType, caller: Caller): Sql =>
  sql`(${readableKind(type, caller)} and ${notHidden(type, caller)})`

/** The caller may read the noteable that a row of this alias is about, in a visible project `p`. */
export const readableAbout = (alias: string, caller: Caller): Sql => {
  const cases = noteableTypes.map(
    (type) => sql`
      when ${isAboutKind(alias, type)} then ${
        kindOf(type).confidential
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
export const aboutColumns = (alias: string): Sql =>
  raw(`
  case ${noteableTypes.map((type) => `when ${alias}.${kindOf(type).column} is not null then '${type}'`).join(' ')} end as noteable_type,
  coalesce(${noteableTypes.map((type) => `${alias}.${kindOf(type).column}`).join(', ')}) as noteable_id
`)

/** The noteable `m` in the project `p` is not confidential, or the caller may read confidential ones: `hidden` of its policy. */
export function notHidden(type: NoteableType, caller: Caller): Sql {
  if (!kindOf(type).confidential || caller?.admin) return raw('true')
  if (caller === null) return raw('not m.confidential')
  return sql`
    (not m.confidential or ${participatesIn(type, sql`${caller.id}`)} or ${memberAtLeast(caller, levels.reporter)})
  `
}
