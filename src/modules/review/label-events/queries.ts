import type { List } from '../../../api/page.ts'
import type { Db } from '../../../db/db.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import type { Timestamp } from '../../../db/types.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'
import { reaching } from '../../groups/index.ts'
import { type LabelReferenceRow, labelJson } from '../../planning/index.ts'

export type LabelEventRow = {
  readonly id: number
  readonly merge_request_id: number
  readonly user: UserReferenceRow
  /** Null when it is gone. */
  readonly label: LabelReferenceRow | null
  readonly action: 'add' | 'remove'
  readonly created_at: Timestamp
}

const select = sql`select e.id, e.merge_request_id, ${userReferenceJson('u')} as "user",
  case when l.id is not null then ${labelJson('l')} end as label, e.action, e.created_at
  from label_events e join users u on u.id = e.user_id left join labels l on l.id = e.label_id`

/** Those about labels that are not the project's to use any more, because it moved, are left out. */
const shown = (mergeRequest: { readonly id: number; readonly project_id: number }): Sql =>
  sql`e.merge_request_id = ${mergeRequest.id} and (l.id is null or ${reaching('l', sql`${mergeRequest.project_id}`)})`

export const labelEventsOf = (mergeRequest: { readonly id: number; readonly project_id: number }): List => ({
  type: 'ResourceLabelEvent',
  cached: true,
  select,
  from: raw('from label_events e left join labels l on l.id = e.label_id'),
  where: [shown(mergeRequest)],
  order: [{ by: raw('e.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

export const findLabelEvent = (
  db: Db,
  mergeRequest: { readonly id: number; readonly project_id: number },
  id: number,
): Promise<LabelEventRow | undefined> =>
  db.row<LabelEventRow>(sql`${select} where e.id = ${id} and ${shown(mergeRequest)}`)
