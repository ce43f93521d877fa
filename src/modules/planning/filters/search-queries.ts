import { literal, type Sql, sql } from '../../../db/sql.ts'
import { type ScheduledType, tableOf } from '../../discussion/index.ts'

/** Noteables that match from which on a text is common. */
const many = 1000

/** The noteables that match a text: read from the index of trigrams, unless they are many. */
export type Matched = {
  /** A common table expression, `name as …`, to which the others refer. */
  readonly given: Sql
  /** Whether many match. Has no columns. */
  readonly common: Sql
  /** Rows of the ids of all that match; none if these are many. */
  readonly few: Sql
}

/**
 * How to find the noteables `m` that meet the condition of a search. PostgreSQL estimates from a hundred sampled texts how many match: of
 * texts that are among them it expects enough for a page among the first rows, and reads the table in order.
 */
export function matchedBy(type: ScheduledType, condition: Sql): Matched {
  const common = sql`
    (select count(*) from (select from matching limit ${literal(many)}) as first_ones) >= ${literal(many)}
  `
  return {
    // It reads as many as are asked for. A limit within would have the planner read the table instead of the index.
    given: sql`matching as materialized (select m.id from ${tableOf(type)} m where ${condition})`,
    common,
    few: sql`select matching.id from matching where not ${common}`,
  }
}
