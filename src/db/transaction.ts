import type pg from 'pg'
import { beginCheck, type StatementCheck } from './checks.ts'
import { longStatementMs } from './connection.ts'
import type { CachedReads, Db, Statement, Tx } from './db.ts'
import type { PipelinedConnection } from './pipelined-connection.ts'
import type { RowOf, Shape } from './row.ts'
import { isConsequence } from './violations.ts'

/** The methods of a `Db` over `query`, which each calls in the same turn: the statements of a transaction keep their order. */
export function over(
  query: (statement: Statement) => Promise<pg.QueryResult>,
  check: StatementCheck | undefined,
  use: 'read' | 'cached' = 'read',
): Omit<Db, 'snapshotCache'> {
  async function rows<S extends Shape>(shape: S, statement: Statement): Promise<RowOf<S>[]> {
    const checked = beginCheck(check, use, shape, statement)
    const { rows: found } = await query(statement)
    if (checked) await checked(found)
    return found
  }
  return {
    rows,
    row: async (shape, statement) => (await rows(shape, statement))[0],
    exists: async (statement) => (await query(statement)).rows.length > 0,
    run: async (statement) => (await query(statement)).rowCount ?? 0,
  }
}

/**
 * One transaction on a connection. Statements that do not await one another are sent together and run in the order in which they
 * were issued; if one fails, the following ones fail, too. `begin` is sent with the first.
 */
export class Transaction {
  readonly tx: Tx
  readonly #line: PipelinedConnection
  readonly #begun: Promise<unknown>
  readonly #afterCommit = new Set<() => Promise<void>>()
  #collecting = false
  /** The last error that was not the consequence of another. */
  #cause: unknown

  constructor(line: PipelinedConnection, check?: StatementCheck) {
    this.#line = line
    this.#begun = this.#ask('begin')
    // If the connection is lost, the next statement fails as well and reports it.
    this.#begun.catch(() => {})
    const query = (statement: Statement) => this.#query(statement)
    const cached = over(query, check, 'cached')
    // A transaction sees its own uncommitted changes, so it must not use the shared cache.
    this.tx = {
      ...over(query, check),
      snapshotCache: {
        row: cached.row,
        rows: cached.rows,
        byId: async (shape, ids, statementOf) => {
          const rows = ids.length > 0 ? await cached.rows(shape, statementOf(ids)) : []
          return new Map(rows.map((row) => [(row as { readonly id: number }).id, row]))
        },
        expects: () => false,
      } satisfies CachedReads,
      afterCommit: (work: () => Promise<void>) => void this.#afterCommit.add(work),
      allowLongStatements: (ms?: number) => this.#allowLongStatements(ms),
      savepoint: <T>(work: () => Promise<T>) => this.#savepoint(work),
    } as unknown as Tx
  }

  async commit(): Promise<void> {
    await this.#begun
    const { command } = await this.#ask('commit')
    this.#line.expectShortStatements()
    // The server answers ROLLBACK if a statement failed and the caller ignored the error.
    if (command === 'ROLLBACK') throw new Error('a statement of the transaction had failed: nothing is committed')
  }

  /** Runs the work registered for after the commit. It needs no connection. */
  async conclude(): Promise<void> {
    for (const work of this.#afterCommit) await work()
  }

  async rollback(): Promise<void> {
    await this.#ask('rollback')
    this.#line.expectShortStatements()
  }

  async #allowLongStatements(ms = longStatementMs): Promise<void> {
    await this.#ask(`set local statement_timeout = ${ms}`)
    this.#line.expectLongStatements(ms)
  }

  async #savepoint<T>(work: () => Promise<T>): Promise<T> {
    // Savepoints of the same name are a stack.
    await this.#ask('savepoint nested')
    try {
      const result = await work()
      // Fails if a statement failed and `work` ignored the error.
      await this.#ask('release savepoint nested')
      return result
    } catch (error) {
      await this.#ask('rollback to savepoint nested')
        .then(() => this.#ask('release savepoint nested'))
        // The connection is lost: the transaction cannot be committed.
        .catch(() => {})
      throw error
    }
  }

  #ask(command: string): Promise<pg.QueryResult> {
    this.#collect()
    return this.#line.command(command)
  }

  /** A statement that was sent together with one that failed has the same error: its caller may get it first. */
  async #query(statement: Statement): Promise<pg.QueryResult> {
    this.#collect()
    try {
      return await this.#line.query(statement)
    } catch (error) {
      if (!isConsequence(error)) this.#cause = error
      throw this.#cause ?? error
    }
  }

  #collect(): void {
    if (this.#collecting) return
    this.#collecting = true
    this.#line.collect(() => {
      this.#collecting = false
    })
  }
}
