import type { List } from '../../../api/page.ts'
import type { Db } from '../../../db/db.ts'
import { integer, json, notNull, nullable, oneOf, type RowOf, textOf, timestamp } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'
import { columnOf, isAbout, type Noteable, type NoteableType } from '../../discussion/index.ts'
import { reaching } from '../../groups/index.ts'
import { type LabelReferenceRow, labelJson } from '../labels/queries.ts'

export const labelEventRow = {
  id: integer,
  noteable_type: textOf<NoteableType>(),
  noteable_id: notNull(integer),
  user: json<UserReferenceRow>(),
  /** Null if it is deleted. */
  label: nullable(json<LabelReferenceRow>()),
  action: oneOf('add', 'remove'),
  created_at: timestamp,
}
export type LabelEventRow = RowOf<typeof labelEventRow>

const select = (type: NoteableType): Sql => sql`
  select e.id, ${type}::text as noteable_type, e.${columnOf(type)} as noteable_id, ${userReferenceJson('u')} as "user",
    case when l.id is not null then ${labelJson('l')} end as label, e.action, e.created_at
  from label_events e join users u on u.id = e.user_id left join labels l on l.id = e.label_id
`

/** Excludes labels that the project can no longer use, because it moved. */
const shown = (noteable: Noteable): Sql =>
  sql`${isAbout('e', noteable)} and (l.id is null or ${reaching('l', sql`${noteable.project_id}`)})`

export const labelEventsOf = (noteable: Noteable): List => ({
  type: 'ResourceLabelEvent',
  cached: true,
  select: select(noteable.type),
  from: raw('from label_events e left join labels l on l.id = e.label_id'),
  where: [shown(noteable)],
  order: [{ by: raw('e.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

export const findLabelEvent = (db: Db, noteable: Noteable, id: number): Promise<LabelEventRow | undefined> =>
  db.row(labelEventRow, sql`${select(noteable.type)} where e.id = ${id} and ${shown(noteable)}`)
