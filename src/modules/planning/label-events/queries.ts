import { json, nullable, oneOf, type RowOf, text } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'
import { columnOf, holderPath, isAbout, joinHolder, tableOf } from '../../discussion/index.ts'
import { reachingHolder } from '../../groups/index.ts'
import { type LabelReferenceRow, labelJson } from '../labels/queries.ts'
import { type EventTable, eventColumns, eventRow } from '../resource-events/queries.ts'

const labelEventRow = {
  ...eventRow,
  /** Of the project or group of the noteable. */
  full_path: text,
  user: json<UserReferenceRow>(),
  /** Null if it is deleted. */
  label: nullable(json<LabelReferenceRow>()),
  action: oneOf('add', 'remove'),
}
export type LabelEventRow = RowOf<typeof labelEventRow>

export const labelEvents: EventTable<typeof labelEventRow> = {
  type: 'ResourceLabelEvent',
  row: labelEventRow,
  select: (type) => sql`
    select ${eventColumns(type)}, ${userReferenceJson('u')} as "user",
      case when l.id is not null then ${labelJson('l')} end as label, e.action, ${holderPath(type)} as full_path
    from label_events e
      join users u on u.id = e.user_id
      join ${tableOf(type)} m on m.id = e.${columnOf(type)} ${joinHolder(type)}
      left join labels l on l.id = e.label_id
  `,
  from: raw('from label_events e left join labels l on l.id = e.label_id'),
  // Excludes labels that the project or group can no longer use, because it moved.
  shown: (noteable) => sql`${isAbout('e', noteable)} and (l.id is null or ${reachingHolder('l', noteable.holder)})`,
}
