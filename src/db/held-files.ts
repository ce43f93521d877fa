import type pg from 'pg'
import { Failure } from '../kernel/failure.ts'
import { newClient } from './client.ts'
import { mapConnectionError } from './connection-errors.ts'
import type { Tx } from './db.ts'
import { boolean, text } from './row.ts'
import { withoutTimeouts } from './snapshot.ts'
import { literal, sql } from './sql.ts'

/*
 * A backup reads the files that its moment of the database needs long after that moment. Until it ends, nothing deletes files: who
 * deletes some shares an advisory lock meanwhile, and a backup holds it alone. Both end with their connection.
 */

/** Keys of the advisory locks: of files that may be deleted, and of the one backup that may run. */
const [filesKey, backupKey] = [7_180_341, 7_180_342]

type Transact = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>

/**
 * Deletes files that a backup may need, or nothing while one runs: then it resolves to `'held'` at once, and the caller tries again
 * later. `work` must be safe to repeat. Occupies a connection until it ends.
 */
export const deleteFiles = <T>(transact: Transact, work: () => Promise<T>): Promise<T | 'held'> =>
  transact(async (tx) => {
    const { free } = (await tx.row(
      { free: boolean, unlimited: text },
      sql`
        select pg_try_advisory_xact_lock_shared(${literal(filesKey)}) as free,
          set_config('idle_in_transaction_session_timeout', '0', true) as unlimited
      `,
    ))!
    return free ? await work() : 'held'
  })

/** How long callers of `deleteFiles` should wait before they try again, in ms. */
export const heldRetryMs = 5 * 60_000

/** The lock of a running backup, on a connection of its own, which it also uses to read what is current. */
export class FilesHold implements AsyncDisposable {
  readonly #client: pg.Client

  private constructor(client: pg.Client) {
    this.#client = client
  }

  /** Waits until no files are being deleted. Fails with `conflict` if another backup runs. */
  static async take(url: string, progress: (line: string) => void): Promise<FilesHold> {
    const client = newClient({ ...withoutTimeouts(url, 'backup'), lock_timeout: 0 })
    await mapConnectionError(client.connect())
    const waiting = setTimeout(() => progress('waiting until housekeeping has deleted what it is deleting'), 2_000)
    try {
      const { rows } = await client.query<{ free: boolean }>('select pg_try_advisory_lock($1) as free', [backupKey])
      if (!rows[0]!.free) throw new Failure('conflict', 'Another backup is running.')
      await client.query('select pg_advisory_lock($1)', [filesKey])
      return new FilesHold(client)
    } catch (error) {
      await client.end().catch(() => {})
      throw error
    } finally {
      clearTimeout(waiting)
    }
  }

  /** Fails if the connection was lost, and so the lock. */
  async requireHeld(): Promise<void> {
    await mapConnectionError(this.#client.query('select'))
  }

  async rows<Row extends object>(statement: string, values: readonly unknown[]): Promise<Row[]> {
    return (await mapConnectionError(this.#client.query<Row>(statement, [...values]))).rows
  }

  /** From now on files may be deleted again. Other backups still cannot run. */
  async release(): Promise<void> {
    await this.#client.query('select pg_advisory_unlock($1)', [filesKey])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end().catch(() => {})
  }
}
