import type pg from 'pg'
import type { Db, Statement, Tx } from './db.ts'
import type { Line } from './line.ts'

/** Reads of a `Db`, whatever it asks. */
export const over = (query: (statement: Statement) => Promise<pg.QueryResult>): Omit<Db, 'kept'> => ({
  rows: async <Row>(statement: Statement) => (await query(statement)).rows as Row[],
  row: async <Row>(statement: Statement) => (await query(statement)).rows[0] as Row | undefined,
  run: async (statement) => (await query(statement)).rowCount ?? 0,
})

/**
 * One transaction on a connection. Statements that do not await one another go to the server together and run in the order in
 * which they were asked; when one fails, so do those behind it. The beginning goes with the first.
 */
export class Transaction {
  readonly tx: Tx
  readonly #line: Line
  readonly #begun: Promise<unknown>
  readonly #afterCommit = new Set<() => Promise<void>>()
  #collecting = false

  constructor(line: Line) {
    this.#line = line
    this.#begun = this.#ask('begin')
    // Where the connection is gone, what follows fails as well, and tells it.
    this.#begun.catch(() => {})
    const db = over((statement) => this.#query(statement))
    // A transaction sees what nobody else does: it keeps nothing.
    this.tx = {
      ...db,
      kept: { row: db.row, rows: db.rows, expects: () => false },
      afterCommit: (work: () => Promise<void>) => void this.#afterCommit.add(work),
    } as unknown as Tx
  }

  async commit(): Promise<void> {
    await this.#begun
    const { command } = await this.#ask('commit')
    // So the server says when a statement failed and whoever asked it went on.
    if (command === 'ROLLBACK') throw new Error('a statement of the transaction had failed: nothing is committed')
  }

  /** What was to be done once it is committed. It needs no connection. */
  async conclude(): Promise<void> {
    for (const work of this.#afterCommit) await work()
  }

  async rollback(): Promise<void> {
    await this.#ask('rollback')
  }

  #ask(command: string): Promise<pg.QueryResult> {
    this.#collect()
    return this.#line.command(command)
  }

  #query(statement: Statement): Promise<pg.QueryResult> {
    this.#collect()
    return this.#line.query(statement)
  }

  #collect(): void {
    if (this.#collecting) return
    this.#collecting = true
    this.#line.collect(() => {
      this.#collecting = false
    })
  }
}
