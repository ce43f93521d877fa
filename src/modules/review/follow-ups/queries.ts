import type { Db } from '../../../db/db.ts'
import { boolean, integer, type RowOf, text } from '../../../db/row.ts'
import { literal, raw, sql } from '../../../db/sql.ts'

/** An unresolved discussion, with its first unresolved note. */
const unresolvedRow = {
  discussion_id: text,
  note_id: integer,
  username: text,
  /** The beginning of its text. */
  body: text,
  /** The note starts the discussion. */
  first: boolean,
  /** Other comments of the discussion. */
  others: integer,
}
export type UnresolvedRow = RowOf<typeof unresolvedRow>

/** Maximum characters of a quoted note: all quotes together must fit into the description of an issue. The link leads to the whole text. */
const longestQuote = 1000

/** Unresolved discussions of a merge request, or this one if it is unresolved, oldest first. At most 100. */
export const unresolvedOf = (
  db: Db,
  mergeRequestId: number,
  discussionId: string | undefined,
): Promise<UnresolvedRow[]> =>
  db.rows(
    unresolvedRow,
    sql`
      select n.discussion_id, n.id as note_id, u.username,
        case
          when length(n.body) > ${literal(longestQuote)} then left(n.body, ${literal(longestQuote)}) || ' …'
          else n.body
        end as body,
        not exists (
          select
          from notes o
          where o.merge_request_id = n.merge_request_id and o.discussion_id = n.discussion_id and o.id < n.id
        ) as first,
        (
          select count(*)::integer - 1
          from notes o
          where o.merge_request_id = n.merge_request_id and o.discussion_id = n.discussion_id and not o.system
        ) as others
      from notes n join users u on u.id = n.author_id
      where n.id in (
        select min(r.id)
        from notes r
        where r.merge_request_id = ${mergeRequestId}
          and r.threaded
          and r.resolved_at is null
          and ${discussionId === undefined ? raw('true') : sql`r.discussion_id = ${discussionId}`}
        group by r.discussion_id
      )
      order by n.id
      limit 100
    `,
  )
