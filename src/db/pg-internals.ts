import { once } from 'node:events'
import type { Duplex } from 'node:stream'
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

/** What COPY needs of a connection of pg. */
type CopyConnection = {
  readonly stream: Duplex
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  sendCopyFail(message: string): void
}

/** The server reads the data in messages, which pg copies into a buffer that it keeps. */
const copyMessageBytes = 64 * 1024

/** A COPY statement as pg runs it. Resolves with the number of rows. */
class Copy {
  readonly done: Promise<number>
  readonly #settle: PromiseWithResolvers<number> = Promise.withResolvers()
  readonly #text: string
  readonly #take: ((row: Buffer) => Promise<void> | undefined) | undefined
  readonly #source: AsyncIterable<Buffer> | undefined
  #rows = 0
  #taking: Promise<void> | undefined
  #failure: unknown

  constructor(text: string, use: { take(row: Buffer): Promise<void> | undefined } | { source: AsyncIterable<Buffer> }) {
    this.#text = text
    this.#take = 'take' in use ? use.take : undefined
    this.#source = 'source' in use ? use.source : undefined
    this.done = this.#settle.promise
    this.done.catch(() => {})
  }

  submit(connection: CopyConnection): void {
    connection.query(this.#text)
  }

  handleCopyData({ chunk }: { chunk: Buffer }, connection: CopyConnection): void {
    if (this.#failure !== undefined) return
    const taken = this.#take!(chunk)
    if (taken === undefined) return
    // What the socket has delivered already still arrives.
    connection.stream.pause()
    const all = Promise.all([this.#taking, taken]).then(() => {})
    this.#taking = all
    all
      .catch((error) => {
        this.#failure ??= error
      })
      .finally(() => {
        if (this.#taking === all) connection.stream.resume()
      })
  }

  handleCopyInResponse(connection: CopyConnection): void {
    this.#send(connection).catch((error: Error) => {
      this.#failure ??= error
      connection.sendCopyFail(error.message)
    })
  }

  async #send(connection: CopyConnection): Promise<void> {
    const { stream } = connection
    for await (const bytes of this.#source!) {
      for (let at = 0; at < bytes.length; at += copyMessageBytes) {
        connection.sendCopyFromChunk(bytes.subarray(at, at + copyMessageBytes))
        if (stream.writableNeedDrain) await once(stream, 'drain')
      }
    }
    connection.endCopyFrom()
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#rows = Number(/^COPY (\d+)/.exec(text)?.[1] ?? 0)
  }

  handleReadyForQuery(): void {
    const end = () =>
      this.#failure === undefined ? this.#settle.resolve(this.#rows) : this.#settle.reject(this.#failure)
    if (this.#taking) this.#taking.then(end, end)
    else end()
  }

  handleError(error: Error): void {
    this.#settle.reject(this.#failure ?? error)
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
}

/**
 * Runs `COPY … TO STDOUT`. `take` gets each row; the memory of the row is used again when it returns. While a promise that it
 * returned is pending, the server sends little more. Resolves with the number of rows.
 */
export function copyOut(
  client: pg.Client,
  text: string,
  take: (row: Buffer) => Promise<void> | undefined,
): Promise<number> {
  const copy = new Copy(text, { take })
  client.query(copy as unknown as pg.Submittable)
  return copy.done
}

/** Runs `COPY … FROM STDIN`. Resolves with the number of rows. If `source` fails, so does the statement. */
export function copyIn(client: pg.Client, text: string, source: AsyncIterable<Buffer>): Promise<number> {
  const copy = new Copy(text, { source })
  client.query(copy as unknown as pg.Submittable)
  return copy.done
}
