import type { Statement } from './db.ts'
import type { Shape } from './row.ts'

/** Compares statements with the shapes that they are run with. Tests have one; production has none. */
export interface StatementCheck extends AsyncDisposable {
  /** Rejects if the columns of the statement are not those of the shape, or if a cached one depends on more than data. */
  statement(shape: Shape, statement: Statement, use: 'read' | 'cached'): Promise<void>
  /** Throws if a row has a null or a value that the shape does not allow. */
  rows(shape: Shape, statement: Statement, rows: readonly object[]): void
  /** Freezes everything in a shared row. */
  freeze(row: object): void
}

type Opener = (url: string) => StatementCheck

/** Every copy of this module in a process uses the same: tests load the sources before a service that runs a bundle of them. */
const key = Symbol.for('stithy.statementCheck')
const shared = globalThis as { [key]?: Opener }

/**
 * Every database that is opened from now on checks its statements.
 *
 * @public Only tests call this (`testing/install.ts`).
 */
export function checkStatements(opener: Opener): void {
  shared[key] = opener
}

/** The check of a database that is being opened, if statements are checked. */
export const openCheck = (url: string): StatementCheck | undefined => shared[key]?.(url)

/**
 * Begins to check a statement that is run with a shape. What it returns checks the rows, once they are there: a failure of the
 * statement itself comes first.
 */
export function beginCheck(
  check: StatementCheck | undefined,
  use: 'read' | 'cached',
  shape: Shape,
  statement: Statement,
): ((rows: readonly object[]) => Promise<void>) | undefined {
  if (!check) return undefined
  const described = check.statement(shape, statement, use)
  described.catch(() => {})
  return async (rows) => {
    await described
    check.rows(shape, statement, rows)
  }
}
