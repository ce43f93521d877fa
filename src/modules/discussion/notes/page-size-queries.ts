import { literal, type Sql, sql } from '../../../db/sql.ts'
import { bytesOfNote } from './queries.ts'
import { longestPage } from './text.ts'

/**
 * Whether what precedes a row of a page in this order leaves room for it, when each row has these bytes; the first row always has room. A
 * row of a list with a `key`: otherwise all rows before the page would count.
 */
export const hasRoom = (bytes: Sql, order: Sql): Sql => sql`
  coalesce(
    sum(${bytes}) over (order by ${order} rows between unbounded preceding and 1 preceding), 0
  ) < ${literal(longestPage)}
`

/** The text of the note `n` in a page with this order; null if there is no room for it. */
export const listedBody = (order: Sql): Sql => sql`case when ${hasRoom(bytesOfNote('n'), order)} then n.body end`
