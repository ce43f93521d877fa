import type { Tx } from '../../../db/db.ts'
import { and, type Sql, sql } from '../../../db/sql.ts'

/** What `audience_counts` has the numbers of; `projects` by whether they are `archived` or `active`, groups are `active`. */
export type CountedType = 'Group' | 'Issue' | 'MergeRequest' | 'Project'

/** How many there are with these audiences (visibilities above private), in a state or all: an expression, exact in its snapshot. */
export const numberFor = (type: CountedType, withAudience: (of: Sql) => Sql, state: string | undefined): Sql => sql`
  coalesce(
    (
      select sum(c.number)
      from audience_counts c
      where
        ${and([
          sql`c.type = ${type}`,
          withAudience(sql`c.audience`),
          ...(state === undefined ? [] : [sql`c.state = ${state}`]),
        ])}
    ),
    0
  )::bigint
`

/** Up to this number, adding up costs more than it saves. */
const fewRows = 100

/** Adds up the rows of `audience_counts`, to which each change of a number adds one or two. Those that are not committed yet stay. */
export const addUpNumbers = (tx: Tx): Promise<number> =>
  tx.run(sql`
    with gone as (
      delete from audience_counts
      where (select count(*) from audience_counts) > ${fewRows}
      returning type, audience, state, number
    )
    insert into audience_counts (type, audience, state, number)
    select type, audience, state, sum(number)
    from gone
    group by type, audience, state
    having sum(number) <> 0
  `)
