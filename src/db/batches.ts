import { raw, type Sql, sql } from './sql.ts'

/** Rows per batch, small so that locks are short. */
const batchSize = 1000

/** Repeats a step that processes at most `size` items until it processes fewer. */
export async function inBatches(step: (size: number) => Promise<number>, size = batchSize): Promise<void> {
  while ((await step(size)) >= size);
}

/** `delete from …` of at most `size` rows. Skips rows that other transactions have locked, so that it never waits. */
export const deleteSome = (table: string, condition: Sql, size: number): Sql => sql`
  delete from ${raw(table)}
  where ctid = any(array(select ctid from ${raw(table)} where ${condition} limit ${size} for update skip locked))
`
