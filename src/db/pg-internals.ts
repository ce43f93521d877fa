import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import pg from 'pg'
import { pageTooLarge } from '../kernel/failure.ts'
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

type Listening = { attachListeners(stream: Duplex): void }

const listening = pg.Connection.prototype as unknown as Listening
const { attachListeners } = listening

/**
 * A response that cannot be read, such as a text that is longer than a string can be, fails its connection. pg reads in a listener of
 * the socket, where what it throws would end the process.
 */
listening.attachListeners = function (this: Listening, stream) {
  attachListeners.call(this, stream)
  const read = stream.listeners('data').at(-1) as (chunk: Buffer) => void
  stream.off('data', read)
  stream.on('data', (chunk: Buffer) => {
    try {
      read(chunk)
    } catch (cause) {
      stream.destroy(new Error('Connection terminated: the response cannot be read', { cause }))
    }
  })
}

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
  readonly #maxBytes: number
  #bytes = 0

  constructor(
    { text, values, maxBytes = Number.POSITIVE_INFINITY }: Statement,
    prepared: Prepared<Columns> | undefined,
    closed: readonly string[],
    done: (error: Error | undefined, result: unknown) => void,
  ) {
    super({ text, values, ...(prepared && { name: prepared.name }) }, undefined as never, done as never)
    this.#prepared = prepared
    this.#closed = closed
    this.#maxBytes = maxBytes
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

  handleDataRow({ fields, length }: { fields: readonly unknown[]; length: number }): void {
    const self = this as unknown as Internals
    if (self._canceledDueToError) return
    this.#bytes += length
    try {
      if (this.#bytes > this.#maxBytes) throw pageTooLarge()
      self._result.rows.push(self._result.parseRow(fields))
    } catch (error) {
      // The rows that follow still arrive.
      self._result.rows = []
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
