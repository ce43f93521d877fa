import type { Tx } from './db.ts'
import { nullable, text } from './row.ts'
import { sql } from './sql.ts'

/**
 * Deletes the changes of transactions that were complete when it ran before, also those of another server, which a copied database may
 * have. Processes that have not asked since then read all rows again.
 */
export async function deleteOldChanges(tx: Tx): Promise<void> {
  const { since, before } = (await tx.row(
    { since: text, before: nullable(text) },
    sql`
      with earlier as (select since from table_changes_kept)
      insert into table_changes_kept as kept (since, next)
      select pg_snapshot_xmin(now), pg_snapshot_xmin(now)
      from pg_current_snapshot() as now
      on conflict (only_one) do update set since = least(kept.next, excluded.next), next = excluded.next
      returning since::text, (select since::text from earlier) as before
    `,
  ))!
  // Bounded below, so that it does not pass all the rows that were deleted before and that a long transaction keeps from vacuum.
  await tx.run(
    sql`delete from table_changes where transaction >= ${before ?? '0'}::xid8 and transaction < ${since}::xid8`,
  )
  await tx.run(sql`delete from table_changes where transaction >= pg_snapshot_xmax(pg_current_snapshot())`)
}
