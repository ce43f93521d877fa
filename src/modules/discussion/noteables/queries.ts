import { featureLevels, visibilities } from '../../../access/levels.ts'
import { literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { kindOf, lowestReader, type NoteableType } from './kinds.ts'
import type { Noteable } from './noteable.ts'

const { disabled, enabled } = featureLevels

/** The table of a kind. */
export const tableOf = (type: NoteableType): Sql => raw(kindOf(type).table)

/** The table of the labels of a kind. */
export const labelsTableOf = (type: NoteableType): Sql => raw(kindOf(type).labels)

/** The column with the id of a noteable of a kind: `merge_request_id`. */
export const columnOf = (type: NoteableType): Sql => raw(kindOf(type).column)

/** Condition on a row of this alias: it belongs to the noteable. */
export const isAbout = (alias: string, { type, id }: Pick<Noteable, 'type' | 'id'>): Sql =>
  sql`${raw(`${alias}.${kindOf(type).column}`)} = ${id}`

/** Condition on a row of this alias: it belongs to a noteable of this kind. */
export const isAboutKind = (alias: string, type: NoteableType): Sql =>
  raw(`${alias}.${kindOf(type).column} is not null`)

/**
 * Condition on the user `u`: can act, and may read noteables of this kind in the project `p`. SQL twin of the ability to read them in
 * `projectPolicy`.
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
        or exists (
          select
          from group_access a
          where a.user_id = u.id
            and a.group_id = p.namespace_id
            and a.level >= ${lowest}
            and a.expires_on > current_date
        )
        or exists (
          select
          from project_access a
          where a.user_id = u.id and a.project_id = p.id and a.level >= ${lowest} and a.expires_on > current_date
        )
        or (
          ${feature} >= ${enabled}
          and (p.visibility = ${visibilities.public} or (p.visibility = ${visibilities.internal} and not u.external))
        )
      )
    )
  `
}
