import { integer, json, notNull, nullable, oneOf, type RowOf, textOf, timestamp } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'
import { columnOf, isAbout, type NoteableType } from '../../discussion/index.ts'
import { reaching } from '../../groups/index.ts'
import { type LabelReferenceRow, labelJson } from '../labels/queries.ts'
import type { EventTable } from '../resource-events/queries.ts'

const labelEventRow = {
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

export const labelEvents: EventTable<typeof labelEventRow> = {
  type: 'ResourceLabelEvent',
  row: labelEventRow,
  select: (type) => sql`
    select e.id, ${type}::text as noteable_type, e.${columnOf(type)} as noteable_id,
      ${userReferenceJson('u')} as "user", case when l.id is not null then ${labelJson('l')} end as label, e.action,
      e.created_at
    from label_events e join users u on u.id = e.user_id left join labels l on l.id = e.label_id
  `,
  from: raw('from label_events e left join labels l on l.id = e.label_id'),
  // Excludes labels that the project can no longer use, because it moved.
  shown: (noteable) =>
    sql`${isAbout('e', noteable)} and (l.id is null or ${reaching('l', sql`${noteable.project_id}`)})`,
}
