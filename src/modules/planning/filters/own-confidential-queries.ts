import type { Actor } from '../../../access/actor.ts'
import { join, type Sql, sql } from '../../../db/sql.ts'
import { assigneesTableOf, columnOf, type ScheduledType, tableOf } from '../../discussion/index.ts'

/** `select` of the ids of confidential noteables that the caller wrote or is assigned to. */
export const ownConfidential = (type: ScheduledType, caller: Actor): Sql =>
  join(
    [
      sql`select c.id from ${tableOf(type)} c where c.author_id = ${caller.id} and c.confidential`,
      sql`
        select c.id
        from ${assigneesTableOf(type)} a join ${tableOf(type)} c on c.id = a.${columnOf(type)}
        where a.user_id = ${caller.id} and c.confidential
      `,
    ],
    ' union ',
  )
