import type { Load } from '../kernel/shares.ts'
import type { RowOf, Shape } from './row.ts'
import type { Sql } from './sql.ts'

/** Text with `$1`, `$2`, … and their values. `Sql` is one. */
export type Statement = Pick<Sql, 'text' | 'values'>

/** Reads that a process need not repeat while nothing is committed: exact at the moment of asking, as any other. */
export interface KeptReads {
  /**
   * All rows. They are shared and must not be changed. The statement must depend on nothing but the data, its values and the
   * date: no clock, no columns of the same name, none named `moment`.
   */
  rows<S extends Shape>(shape: S, statement: Statement): Promise<readonly Readonly<RowOf<S>>[]>
  /** The first row, if any. */
  row<S extends Shape>(shape: S, statement: Statement): Promise<Readonly<RowOf<S>> | undefined>
  /** Whether these rows may cost no more than asking for the moment. */
  expects(statement: Statement): boolean
}

/**
 * Something that runs SQL: the pool or a transaction. Statements are prepared under a name made from
 * their text, so a text must not contain values that vary without bound.
 */
export interface Db {
  /** All rows. In tests the statement is compared with the shape. */
  rows<S extends Shape>(shape: S, statement: Statement): Promise<RowOf<S>[]>
  /** The first row, if any. */
  row<S extends Shape>(shape: S, statement: Statement): Promise<RowOf<S> | undefined>
  /** Whether there is a row. Its columns do not matter. */
  exists(statement: Statement): Promise<boolean>
  /** The number of rows changed. */
  run(statement: Statement): Promise<number>
  /** In a transaction, which sees what it has not committed, nothing is kept. */
  readonly kept: KeptReads
}

declare const inTransaction: unique symbol

/** From where a transaction comes, for the audit log. */
export type Origin = {
  /** The address of the client. */
  readonly address: string | undefined
  /** The access token that was shown. */
  readonly tokenId: number | undefined
  /** The administrator who impersonates the user. */
  readonly impersonatorId: number | undefined
}

/** A `Db` whose statements commit or vanish together. Functions that must not run outside one ask for it. */
export interface Tx extends Db {
  readonly [inTransaction]: true
  /** Of transactions of a `Ctx` (app.ts). */
  readonly origin?: Origin
  /** What follows from an event that is emitted in it (src/reactions.ts). Of transactions of a `Ctx`. */
  readonly react?: (tx: Tx, event: object) => Promise<void>
  /** `work` is done once this is committed, before `transaction` resolves; once, however often it is asked for. */
  afterCommit(work: () => Promise<void>): void
}

/** What the service sees of its database. */
export interface Database extends Db, AsyncDisposable {
  /**
   * Runs `work` in a transaction; rolls back when it throws. Deadlocks and serialisation failures are tried again. With
   * the share key of a caller it uses that caller's share of the connections, and fails with `rate_limited` when too many
   * transactions of the caller wait.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, caller?: string): Promise<T>
  /**
   * The same database for the holder of a share key: beyond its share, its statements wait for one another, and those that
   * wait fail with the reason of `signal` once that aborts.
   */
  for(caller: string, signal?: AbortSignal): Db
  /** What runs and waits in each pool of connections of this process. */
  loads(): Readonly<Record<'readers' | 'writers', Load>>
}
