import type { Load } from '../kernel/shares.ts'
import type { RequestSnapshot } from './request-snapshot.ts'
import type { integer, RowOf, Shape } from './row.ts'
import type { Sql } from './sql.ts'

/** Text with `$1`, `$2`, … and their values. `Sql` is one. */
export type Statement = Pick<Sql, 'text' | 'values'> & {
  /** One plan is best for all values: of what keys lead to (`byKey`), or of a page (`ofPage`). */
  readonly onePlan?: 'key' | 'page'
  /** It fails with `too_large` if its rows have more bytes. */
  readonly maxBytes?: number | undefined
}

/**
 * A statement in which keys lead to few rows, whatever the values: outside transactions it is planned once for each connection. Others may
 * be planned for their values each time, which for one row of a record with all its parts takes longer than the execution.
 */
export const byKey = ({ text, values }: Statement): Statement => ({ text, values, onePlan: 'key' })

/**
 * Maximum bytes of the rows of a page: more than eleven of the longest texts have, of three bytes a character, and more than `longestPage` of
 * notes with its last discussion.
 */
const pageBytes = 40 * 1024 * 1024

/** A statement that reads the records of a page, which are refused (`too_large`) if they are long. */
export const boundedPage = ({ text, values }: Statement): Statement => ({ text, values, maxBytes: pageBytes })

/**
 * A statement that finds a page of a list, or reads its records as `boundedPage` does, with one plan for all values as `byKey`. It takes longer than
 * one row: outside transactions, statements by key do not wait for it.
 */
export const ofPage = (statement: Statement): Statement => ({ ...boundedPage(statement), onePlan: 'page' })

/**
 * Projects and groups of all rows that a cached row depends on, of the tables whose changes are recorded by holder (`TableCatalogue`); all groups if
 * they are absent. Rows without a holder need not be named. Called with each row. Changes of those tables by other holders leave it cached.
 */
export type HoldersOf<S extends Shape> = (row: RowOf<S>) => {
  readonly projects: readonly (number | null)[]
  readonly groups?: readonly (number | null)[]
  /** All merge requests that matter: of the rows of `merge_requests`, and of notes about them; those of the projects if absent. */
  readonly mergeRequests?: readonly number[]
}

/** Reads that a process need not repeat while nothing is committed: as exact as any other read. */
export interface CachedReads {
  /**
   * All rows. They are shared and must not be changed. The statement must depend on nothing but the data, its values and the
   * date: no clock, no columns of the same name, none named `snapshot`.
   */
  rows<S extends Shape>(
    shape: S,
    statement: Statement,
    holdersOf?: HoldersOf<S>,
  ): Promise<readonly Readonly<RowOf<S>>[]>
  /** The first row, if any. */
  row<S extends Shape>(
    shape: S,
    statement: Statement,
    holdersOf?: HoldersOf<S>,
  ): Promise<Readonly<RowOf<S>> | undefined>
  /**
   * Rows by their ids; those that do not exist are missing. Each is cached by itself, and one statement reads all that are not.
   * `statementOf` has one of the values `ids`, and depends on nothing else that is not a value; its rows have an `id`.
   */
  byId<S extends Shape & { readonly id: typeof integer }>(
    shape: S,
    ids: readonly number[],
    statementOf: (ids: readonly number[]) => Statement,
    holdersOf?: HoldersOf<S>,
  ): Promise<ReadonlyMap<number, Readonly<RowOf<S>>>>
  /** Whether these rows may be read with a snapshot check only. */
  expects(shape: Shape, statement: Statement): boolean
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
  /** In a transaction, which sees what it has not committed, no row is cached. */
  readonly snapshotCache: CachedReads
}

declare const inTransaction: unique symbol

/** Origin of a transaction, for the audit log. */
export type Origin = {
  /** The address of the client. */
  readonly address: string | undefined
  /** The access token of the request. */
  readonly tokenId: number | undefined
  /** The administrator who impersonates the user. */
  readonly impersonatorId: number | undefined
}

/** A `Db` whose statements are committed together or not at all. Functions that must run in a transaction take one. */
export interface Tx extends Db {
  readonly [inTransaction]: true
  /** In transactions of a `Ctx` (app.ts). */
  readonly origin?: Origin
  /** The caller, whose share of the slots the jobs use that it enqueues (`access/share-key.ts`). In transactions of a `Ctx`. */
  readonly share?: string
  /** Runs the reactions to events of one kind emitted in it (src/reactions.ts). In transactions of a `Ctx`. */
  readonly react?: (tx: Tx, events: readonly object[]) => Promise<void>
  /** Receives the notifications that it sends (`db/notifications.ts`). In transactions of a `Ctx`. */
  readonly notifications?: { received(id: string): Promise<void> }
  /**
   * Throws unless the caller still has the permission that the request needs: for after a wait. In transactions of a request to the
   * API, the registry or LFS that changes something.
   */
  readonly requirePermission?: () => Promise<void>
  /**
   * Runs `work` after the commit, before `transaction` resolves; once, even if registered several times. If it throws, so does `transaction`,
   * although its changes are committed.
   */
  afterCommit(work: () => Promise<void>): void
  /**
   * The statements that follow may take `ms`, by default 15 minutes, instead of half a minute. For changes whose triggers or cascades write as many rows as are
   * stored: one that stops and is rolled back could never be made.
   */
  allowLongStatements(ms?: number): Promise<void>
  /** Runs `work` within the transaction; if it throws, undoes its statements only. Calls take turns, or are nested. */
  savepoint<T>(work: () => Promise<T>): Promise<T>
}

/** What the reads of one request have in common. */
export type RequestReads = {
  readonly signal?: AbortSignal | undefined
  /** Only for requests that change nothing. */
  readonly snapshot?: RequestSnapshot | undefined
}

/** The database as the service uses it. */
export interface Database extends Db, AsyncDisposable {
  /**
   * Runs `work` in a transaction; rolls back when it throws. Retries deadlocks and serialisation failures. With the share key of a
   * caller it uses that caller's share of the connections, and fails with `rate_limited` if too many transactions of the caller
   * wait.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, caller?: string): Promise<T>
  /**
   * The same database for the caller with a share key: beyond the share, statements of the caller wait, and waiting ones
   * fail with the reason of `signal` when it aborts. With the `snapshot` of a request, its cached reads share a check.
   */
  for(caller: string, request?: RequestReads): Db
  /** Running and waiting work in each connection pool of this process. */
  loads(): Readonly<Record<'readers' | 'writers' | 'single_writers', Load>>
}
