import pg from 'pg'

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
  name: string | undefined
  _result: Result
  _canceledDueToError: unknown
  prepare(connection: object): void
  handleRowDescription(message: object): void
}

const query = pg.Query.prototype as unknown as Internals

type Columns = Pick<Result, 'fields' | '_parsers' | '_prebuiltEmptyResultObject'>

type Stream = { cork(): void; uncork(): void; destroy(error: Error): void }

/** The socket of a connected client. */
export const streamOf = (client: pg.Client): Stream =>
  (client as unknown as { connection: { stream: Stream } }).connection.stream

/** Columns of the named statements of one connection: they cannot change while a statement is prepared. */
export class KnownStatements {
  readonly columns = new Map<string, Columns>()
  #silent: object | undefined

  /** The same connection, except that it requests no description. */
  silent(connection: object): object {
    this.#silent ??= Object.create(connection, { describe: { value: () => {} } }) as object
    return this.#silent
  }
}

/**
 * One execution of a statement. The server describes a named one only until its columns are known, which saves both
 * sides a good part of the work of a single row.
 */
class Read extends pg.Query {
  readonly #known: KnownStatements

  constructor(
    config: pg.QueryConfig,
    known: KnownStatements,
    done: (error: Error | undefined, result: unknown) => void,
  ) {
    super(config, undefined as never, done as never)
    this.#known = known
  }

  prepare(connection: object): void {
    const self = this as unknown as Internals
    const columns = this.#known.columns.get(self.name ?? '')
    if (columns) Object.assign(self._result, columns)
    query.prepare.call(self, columns ? this.#known.silent(connection) : connection)
  }

  handleRowDescription(message: object): void {
    const self = this as unknown as Internals
    query.handleRowDescription.call(self, message)
    const { fields, _parsers, _prebuiltEmptyResultObject } = self._result
    if (self.name) this.#known.columns.set(self.name, { fields, _parsers, _prebuiltEmptyResultObject })
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
export const read = (client: pg.Client, known: KnownStatements, config: pg.QueryConfig): Promise<pg.QueryResult> =>
  new Promise((resolve, reject) => {
    client.query(
      new Read(config, known, (error, result) => (error ? reject(error) : resolve(result as pg.QueryResult))),
    )
  }).catch((error: Error) => {
    // The trace of pg leads to a socket; this one leads to the caller.
    Error.captureStackTrace(error)
    throw error
  }) as Promise<pg.QueryResult>
