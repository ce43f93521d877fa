import { LRUCache } from 'lru-cache'
import type { Db, KeptTotals, Statement } from './db.ts'
import { type Sql, sql } from './sql.ts'
import { prepared } from './statement.ts'

const maximumKept = 2_000

/** Names what a statement sees: which transactions are committed, and the day, because access expires by date. */
export const moment = sql`pg_current_snapshot()::text || current_date`

type Kept = { moment: string; total: number }

function keyOf(rows: Statement): string {
  const { name, text, values } = prepared(rows)
  return `${name ?? text} ${JSON.stringify(values)}`
}

/**
 * Counts that are kept for as long as nothing at all is committed. What a snapshot sees follows from it alone, so that a
 * count of the same snapshot is exact; asking for the snapshot costs next to nothing, counting 10,000 rows does not.
 */
export class Totals implements KeptTotals {
  readonly #db: Db
  readonly #kept = new LRUCache<string, Kept>({ max: maximumKept })

  constructor(db: Db) {
    this.#db = db
  }

  expects(rows: Statement): boolean {
    return this.#kept.has(keyOf(rows))
  }

  at(moment: string, rows: Statement): number | undefined {
    const key = keyOf(rows)
    const known = this.#kept.get(key)
    if (known?.moment === moment) return known.total
    this.#kept.delete(key)
    return undefined
  }

  async count(rows: Sql): Promise<number> {
    const key = keyOf(rows)
    const known = this.#kept.get(key)
    if (known) {
      const now = await this.#db.row<{ moment: string }>(sql`select ${moment} as moment`)
      if (now!.moment === known.moment) return known.total
    }
    const counted = await this.#db.row<Kept>(
      sql`select count(*) as total, ${moment} as moment from (${rows}) as counted`,
    )
    this.#kept.set(key, counted!)
    return counted!.total
  }
}
