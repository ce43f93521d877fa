import pg from 'pg'
import { expect } from 'vitest'
import { eventually } from '../waiting.ts'
import type { World } from '../world.ts'

/** A lock on a table, so that a backup cannot copy it, and statements about it wait. */
export class TableLock {
  readonly #client: pg.Client

  private constructor(client: pg.Client) {
    this.#client = client
  }

  static async take(url: string, table: string): Promise<TableLock> {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(`begin; lock table ${pg.escapeIdentifier(table)} in access exclusive mode`)
    return new TableLock(client)
  }

  /** Waits until a backup waits for the lock. Returns the pid of the process of PostgreSQL that serves it. */
  waitingBackup(): Promise<number> {
    return eventually(async () => {
      await this.#client.query('select pg_stat_clear_snapshot()')
      const { rows } = await this.#client.query<{ pid: number }>(
        `select pid from pg_stat_activity where application_name = 'stithy backup' and wait_event_type = 'Lock'`,
      )
      expect(rows).toHaveLength(1)
      return rows[0]!.pid
    })
  }

  /** Waits until a statement that contains the text waits for the lock. */
  async waiting(text: string): Promise<void> {
    await eventually(async () => {
      await this.#client.query('select pg_stat_clear_snapshot()')
      const { rows } = await this.#client.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and strpos(query, $1) > 0`,
        [text],
      )
      expect(rows).not.toEqual([])
    })
  }

  async release(): Promise<void> {
    await this.#client.end()
  }
}

/** The statements of the database that wait for a lock. */
export const waitingForLocks = async (world: World): Promise<string[]> =>
  (
    await world.rows(
      `select query from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
  ).map(({ query }: { query: string }) => query)
