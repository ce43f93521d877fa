import { literal, type Sql, sql } from '../db/sql.ts'
import type { Crowded, List } from './page.ts'

/** Matching rows from which on the first rows in the order are tried before all that match are read. */
const many = 1000

/** Matching rows from which on they are read in the order alone: some are among each few thousand rows. */
const veryMany = 20_000

/**
 * The parts of a list whose rows match a text: `condition`, which an index of trigrams answers and the list's `where` does not have. If
 * less than `many` rows of `table` match, these are looked up and sorted. If `veryMany` match, the table is read in the order. Between them
 * the first rows in the order are looked at (`walked`), and if too few match, all that match are sorted.
 *
 * PostgreSQL must not choose. It estimates the number from a hundred sampled texts: of a text that is in one of them it expects a
 * hundredth of all rows to match, and then reads the table in the order of the list until a page is full.
 */
export function matchingParts({
  table,
  key,
  condition,
  walked,
}: {
  /** With its alias: `projects p`. */
  readonly table: Sql
  readonly key: Sql
  readonly condition: Sql
  readonly walked: Crowded['from']
}): Required<Pick<List, 'parts' | 'given'>> {
  const atLeast = (rows: number): Sql =>
    sql`(select count(*) from (select from matching limit ${literal(rows)}) as first_ones) >= ${literal(rows)}`
  const common = sql`${atLeast(many)} and not ${atLeast(veryMany)}`
  return {
    // Rows are read as they are asked for, after the index. A limit within would have the planner read the table instead.
    given: sql`matching as materialized (select ${key} as id from ${table} where ${condition})`,
    parts: [
      { where: sql`${key} = any(array(select matching.id from matching where not ${atLeast(many)}))`, few: true },
      {
        where: sql`${common} and ${condition}`,
        few: true,
        crowded: { when: () => common, from: walked, where: condition },
      },
      { where: sql`${atLeast(veryMany)} and ${condition}` },
    ],
  }
}
