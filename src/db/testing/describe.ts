import pg from 'pg'
import { connectionOptions } from '../connection.ts'
import { type ChangingFunctions, changingIn } from './clock.ts'
import { readNode } from './node-tree.ts'
import { type Nulls, nullsOf } from './nulls.ts'

export type Column = { readonly name: string; readonly type: number; readonly nulls: Nulls }

/** What the server says of a statement without running it. */
export type Description = {
  readonly columns: readonly Column[]
  /** Functions that a cached statement must not call. */
  readonly changing: readonly string[]
}

type Field = { readonly name: string; readonly dataTypeID: number }
type Connection = {
  parse(query: { text: string; name: string; types: readonly number[] }): void
  describe(target: { type: 'S'; name: string }): void
  sync(): void
}

/** Parses and describes a statement. The parse tree comes as a notice. */
class Describe {
  fields: readonly Field[] = []
  readonly #text: string
  readonly #done: (error?: Error) => void

  constructor(text: string, done: (error?: Error) => void) {
    this.#text = text
    this.#done = done
  }

  submit(connection: Connection): void {
    connection.parse({ text: this.#text, name: '', types: [] })
    connection.describe({ type: 'S', name: '' })
    connection.sync()
  }

  handleRowDescription({ fields }: { fields: readonly Field[] }): void {
    this.fields = fields
  }

  handleError(error: Error): void {
    this.#done(error)
  }

  handleReadyForQuery(): void {
    this.#done()
  }
}

/** The server prints parse trees to this connection only. */
const settings =
  '-c debug_print_parse=on -c debug_pretty_print=off -c client_min_messages=log -c log_min_messages=panic -c lock_timeout=250'

const clockNames = ['now', 'transaction_timestamp', 'statement_timestamp', 'clock_timestamp', 'timeofday']

/** Volatile functions, the clock, and functions of ours that name the clock. */
const changingFunctions = `select oid::integer, proname from pg_proc
  where provolatile = 'v' or proname = any($1) or (oid >= 16384 and prosrc ~* '\\m(now\\(|current_time|localtime|clock_timestamp)')`

const notNullColumns = `select attrelid::integer as relation, attnum as number from pg_attribute where attnotnull`

/** What the types of pg leave out: whether the connection keeps the process alive. */
type ReferencedClient = pg.Client & { ref(): void; unref(): void }

type Catalogue = { readonly notNull: ReadonlySet<string>; readonly changing: ChangingFunctions }

/** A connection that describes statements. It runs none, and so sees and changes no snapshot. */
export class Describer implements AsyncDisposable {
  readonly #url: string
  #client: Promise<ReferencedClient> | undefined
  #catalogue: Promise<Catalogue> | undefined
  /** One at a time: a notice does not say which statement it is about. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(url: string) {
    this.#url = url
  }

  describe(text: string): Promise<Description> {
    const next = this.#last.then(() => this.#describe(text))
    this.#last = next.catch(() => {})
    return next
  }

  async #describe(text: string): Promise<Description> {
    this.#client ??= this.#connect()
    const client = await this.#client
    // The process must not end while a statement waits for its check, and may end when none does.
    client.ref()
    try {
      return await this.#describeOn(client, text)
    } finally {
      client.unref()
    }
  }

  async #describeOn(client: pg.Client, text: string): Promise<Description> {
    this.#catalogue ??= catalogueOf(client)
    const { notNull, changing } = await this.#catalogue
    let printed = ''
    const hear = ({ message, detail }: { message?: string | undefined; detail?: string | undefined }) => {
      if (message === 'parse tree:') printed = detail ?? ''
    }
    client.on('notice', hear)
    try {
      const fields = await describeOn(client, text)
      const tree = readNode(printed)
      const nulls = nullsOf(tree, (relation, number) => notNull.has(`${relation} ${number}`))
      return {
        columns: fields.map(({ name, dataTypeID }, index) => ({ name, type: dataTypeID, nulls: nulls[index]! })),
        changing: changingIn(tree, changing),
      }
    } finally {
      client.off('notice', hear)
    }
  }

  async #connect(): Promise<ReferencedClient> {
    const options = connectionOptions(this.#url, 'check')
    const client = new pg.Client({ ...options, lock_timeout: 250, options: `${options.options} ${settings}` })
    const drop = () => {
      this.#client = undefined
      this.#catalogue = undefined
    }
    client.on('error', drop)
    client.on('end', drop)
    try {
      await client.connect()
    } catch (error) {
      drop()
      throw error
    }
    return client as ReferencedClient
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last
    const client = await this.#client?.catch(() => undefined)
    client?.ref()
    await client?.end()
  }
}

function describeOn(client: pg.Client, text: string): Promise<readonly Field[]> {
  return new Promise((resolve, reject) => {
    const describe = new Describe(text, (error) => (error ? reject(error) : resolve(describe.fields)))
    client.query(describe as unknown as pg.Submittable)
  })
}

async function catalogueOf(client: pg.Client): Promise<Catalogue> {
  const columns = await client.query<{ relation: number; number: number }>(notNullColumns)
  const functions = await client.query<{ oid: number; proname: string }>(changingFunctions, [clockNames])
  return {
    notNull: new Set(columns.rows.map(({ relation, number }) => `${relation} ${number}`)),
    changing: new Map(functions.rows.map(({ oid, proname }) => [oid, proname])),
  }
}
