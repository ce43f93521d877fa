import pg from 'pg'
import type { Statement } from './db.ts'
import type { Prepared, PreparedStatements } from './prepared-statements.ts'

/*
 * The only file that uses members of pg which its types do not declare. They exist in pg 8.23.1, the pinned version;
 * pg-internals.test.ts fails if another version changes one.
 */

type Result = {
  rows: unknown[]
  fields: unknown
  _parsers: unknown
  _prebuiltEmptyResultObject: unknown
  parseRow(fields: readonly unknown[]): unknown
}
type Internals = {
  _result: Result
  _canceledDueToError: unknown
  prepare(connection: object): void
  handleRowDescription(message: object): void
}

const query = pg.Query.prototype as unknown as Internals

export type Columns = Pick<Result, 'fields' | '_parsers' | '_prebuiltEmptyResultObject'>

type Stream = { cork(): void; uncork(): void; destroy(error: Error): void }

type Connection = {
  stream: Stream
  /** Texts of the statements that the server has prepared, by name. */
  parsedStatements: Record<string, string>
  /** Sends that a prepared statement is no longer needed. It need not exist. */
  close(message: { type: 'S'; name: string }): void
}

const connectionOf = (client: pg.Client): Connection => (client as unknown as { connection: Connection }).connection

/** The socket of a connected client. */
export const streamOf = (client: pg.Client): Stream => connectionOf(client).stream

const silentConnections = new WeakMap<object, object>()

/** The same connection, except that it requests no description. */
function silent(connection: object): object {
  const known = silentConnections.get(connection)
  if (known) return known
  const made = Object.create(connection, { describe: { value: () => {} } }) as object
  silentConnections.set(connection, made)
  return made
}

/**
 * One execution of a statement. The server describes a prepared one only until its columns are known, which saves both
 * sides a good part of the work of a single row.
 */
class Read extends pg.Query {
  readonly #prepared: Prepared<Columns> | undefined
  readonly #closed: readonly string[]

  constructor(
    { text, values }: Statement,
    prepared: Prepared<Columns> | undefined,
    closed: readonly string[],
    done: (error: Error | undefined, result: unknown) => void,
  ) {
    super({ text, values, ...(prepared && { name: prepared.name }) }, undefined as never, done as never)
    this.#prepared = prepared
    this.#closed = closed
  }

  prepare(connection: object): void {
    for (const name of this.#closed) (connection as Connection).close({ type: 'S', name })
    const self = this as unknown as Internals
    const columns = this.#prepared?.columns
    if (columns) Object.assign(self._result, columns)
    query.prepare.call(self, columns ? silent(connection) : connection)
  }

  handleRowDescription(message: object): void {
    const self = this as unknown as Internals
    query.handleRowDescription.call(self, message)
    const { fields, _parsers, _prebuiltEmptyResultObject } = self._result
    if (this.#prepared) this.#prepared.columns = { fields, _parsers, _prebuiltEmptyResultObject }
  }

  handleDataRow({ fields }: { fields: readonly unknown[] }): void {
    const self = this as unknown as Internals
    try {
      self._result.rows.push(self._result.parseRow(fields))
    } catch (error) {
      self._canceledDueToError = error
    }
  }
}

/** Runs a statement on a client that need not be idle: responses come in order. */
export const read = (
  client: pg.Client,
  statements: PreparedStatements<Columns>,
  statement: Statement,
): Promise<pg.QueryResult> => {
  const prepared = statements.use(statement.text)
  const closed = statements.takeClosed()
  return new Promise((resolve, reject) => {
    client.query(
      new Read(statement, prepared, closed, (error, result) => {
        // Earlier statements, which may have prepared these, have ended.
        for (const name of closed) delete connectionOf(client).parsedStatements[name]
        if (error) reject(error)
        else resolve(result as pg.QueryResult)
      }),
    )
  }).catch((error: Error) => {
    // The trace of pg leads to a socket; this one leads to the caller.
    Error.captureStackTrace(error)
    throw error
  }) as Promise<pg.QueryResult>
}
