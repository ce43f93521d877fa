import type { Tx } from '../../../db/db.ts'
import { sql } from '../../../db/sql.ts'

/** Adds up the rows of `comment_counts`, to which each change of the number adds one. Those that are not committed yet stay. */
export const addUpCounts = (tx: Tx): Promise<number> =>
  tx.run(sql`
    with gone as (delete from comment_counts where (select count(*) from comment_counts) > 1 returning number)
    insert into comment_counts (number)
    select sum(number)
    from gone
    having count(*) > 0
  `)
