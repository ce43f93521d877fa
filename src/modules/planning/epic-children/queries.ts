import type { Caller } from '../../../access/actor.ts'
import type { List } from '../../../api/list.ts'
import { raw, sql } from '../../../db/sql.ts'
import { joinHolder, readableRow, visibleHolder } from '../../discussion/index.ts'
import { epicSelect } from '../epics/record-queries.ts'

/** The children of an epic that the caller may read, in their order. */
export const childrenOf = (caller: Caller, epicId: number): List => ({
  type: 'Epic',
  cached: true,
  select: epicSelect(caller),
  from: sql`from epics m ${joinHolder('Epic')}`,
  key: raw('m.id'),
  where: [sql`m.parent_id = ${epicId}`, visibleHolder('Epic', caller), readableRow('Epic', caller)],
  order: [
    { by: raw('m.relative_position'), direction: 'asc' },
    { by: raw('m.id'), direction: 'asc' },
  ],
})
