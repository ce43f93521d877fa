import { LRUCache } from 'lru-cache'
import { beginCheck, type StatementCheck } from './checks.ts'
import type { CachedReads, Statement } from './db.ts'
import { Moment } from './moment.ts'
import type { RequestSnapshot } from './request-snapshot.ts'
import type { RowOf, Shape } from './row.ts'
import { type Sql, sql } from './sql.ts'
import { knownText } from './statement.ts'
import { type CatalogueRow, type Dependencies, readCatalogue, TableCatalogue } from './table-catalogue.ts'
import { TableChanges } from './table-changes.ts'

/** The moment of a statement (`Moment`). */
const moment = sql`pg_current_snapshot()::text || ' ' || current_date`

/** Changes that are read at once; beyond, everything counts as changed. */
const maximumChanges = 1_000

/** The present moment, and which transactions have changed which tables since another one. */
const readChanges = (since: Moment | undefined): Sql => sql`
  select ${moment} as snapshot,
    coalesce((select since from table_changes_kept) <= ${since?.begin ?? '0'}::xid8, false) as complete,
    array(
      (
        select transaction || ' ' || relation
        from table_changes
        where transaction = any(${since?.running ?? []}::xid8[])
        union all
        select transaction || ' ' || relation
        from table_changes
        where transaction >= ${since?.end ?? '0'}::xid8
      )
      limit ${maximumChanges}
    ) as changes
`

type Answer = {
  readonly snapshot: string
  /** All changes are recorded. */
  readonly complete: boolean
  /** Each is a transaction and a table. */
  readonly changes: readonly string[]
}

/** A change of it may have changed everything: the functions and tables themselves. */
const schemaTable = 'schema_migrations'

/** Maximum size of the cached rows, unless said otherwise. */
const usualBytes = 8 * 1024 * 1024
/** Approximate size of a row besides its values. */
const overheadBytes = 500

type Row = { readonly snapshot: string }
/** At least one row; all of one snapshot. */
type Rows = readonly [Row, ...Row[]]

type Kept = {
  readonly rows: Rows
  readonly tables: Dependencies
  /** The rows are those of this moment. */
  moment: Moment
  /** Changes that were learnt up to this time were made before the rows were read. */
  at: number
}

/** Runs the statements. All queries under the same number of `sent` are sent together, after the last of them. */
export type Source = {
  query(statement: Statement): Promise<{ readonly rows: readonly unknown[] }>
  readonly sent: number
}

/**
 * Caches rows while the tables that their statement names are unchanged (docs/adr/0035-rows-cached-by-table.md). The result of a statement depends on its snapshot alone: a row
 * is exact, in every process, if no transaction that has become visible since it was read has changed one of these tables. One query
 * tells which ones were changed since the last time it was asked, and concurrent callers share it.
 */
export class SnapshotCache implements CachedReads {
  readonly #source: Source
  readonly #check: StatementCheck | undefined
  readonly #cache: LRUCache<string, Kept>
  /** Running statements by key, each once for all callers. */
  readonly #reading = new Map<string, Promise<readonly Row[]>>()
  #catalogue: Promise<TableCatalogue> | undefined
  /** The latest moment of which the process knows all changes before. */
  #now: Moment | undefined
  /** How often the process has learnt that anything was committed: its measure of time. */
  #learnt = 0
  readonly #changes = new Map<string, TableChanges>()
  #everythingChanged = 0
  /** Transactions that this process has committed. */
  #commits = 0
  #asked: { sent: number; commits: number; moment: Promise<Moment> } | undefined

  constructor(source: Source, check?: StatementCheck, maximumBytes = usualBytes) {
    this.#cache = new LRUCache({
      maxSize: Math.floor(maximumBytes),
      sizeCalculation: ({ rows }, key) => sizeOf(rows, key),
    })
    this.#source = source
    this.#check = check
  }

  /** This process has committed a transaction: rows that a request has seen may be outdated. */
  invalidate(): void {
    this.#commits++
  }

  expects(shape: Shape, statement: Statement): boolean {
    // Totals are expected more often than they are needed: so tests check them for every list that they read.
    beginCheck(this.#check, 'cached', shape, statement)
    return this.#known(keyOf(statement)) !== undefined
  }

  async row<S extends Shape>(
    shape: S,
    statement: Statement,
    request?: RequestSnapshot,
  ): Promise<Readonly<RowOf<S>> | undefined> {
    return (await this.rows(shape, statement, request))[0]
  }

  /** With `request`, the rows may be those of the snapshot that the request has seen. */
  async rows<S extends Shape>(
    shape: S,
    statement: Statement,
    request?: RequestSnapshot,
  ): Promise<readonly Readonly<RowOf<S>>[]> {
    const checked = beginCheck(this.#check, 'cached', shape, statement)
    const rows: readonly unknown[] = await this.#rows(statement, request)
    if (checked) await checked(rows as readonly object[])
    return rows as readonly Readonly<RowOf<S>>[]
  }

  async #rows(statement: Statement, request: RequestSnapshot | undefined): Promise<readonly Row[]> {
    const key = keyOf(statement)
    const earlier = this.#reading.get(key)
    // A concurrent read of the same statement began earlier. Its rows are current if their tables were not changed meanwhile.
    if (earlier) await earlier.catch(() => {})
    const known = this.#known(key)
    if (known && request?.has(known.moment.text, this.#commits)) return known.rows
    const see = request?.looking(this.#commits)
    if (known) {
      await this.#ask()
      const still = this.#known(key)
      if (still && still.moment === this.#now) {
        see?.(still.moment.text)
        return still.rows
      }
    }
    // A read in progress now began after this call, so its rows are current.
    const rows = await (this.#reading.get(key) ?? this.#read(key, statement))
    if (isRows(rows)) see?.(rows[0].snapshot)
    return rows
  }

  #read(key: string, statement: Statement): Promise<readonly Row[]> {
    const reading = this.#query(key, statement).finally(() => this.#reading.delete(key))
    this.#reading.set(key, reading)
    return reading
  }

  async #query(key: string, { text, values }: Statement): Promise<readonly Row[]> {
    const catalogue = await this.#catalogueNow()
    // The statement sees at least what is known now.
    const at = this.#learnt
    const { rows } = await this.#source.query({
      text: `select cached.*, ${moment.text} as snapshot from (${text}) as cached`,
      values,
    })
    return this.#keep(key, rows as readonly Row[], catalogue.of(text), at)
  }

  #keep(key: string, rows: readonly Row[], tables: Dependencies, at: number): readonly Row[] {
    if (!isRows(rows)) return rows
    for (const row of rows) {
      this.#check?.freeze(row)
      Object.freeze(row)
    }
    this.#cache.set(key, { rows: Object.freeze(rows), tables, moment: new Moment(rows[0].snapshot), at })
    return rows
  }

  /** Rows that are exact as far as this process knows, brought to its moment unless they are later. */
  #known(key: string): Kept | undefined {
    const known = this.#cache.get(key)
    if (!known) return undefined
    if (this.#isChanged(known)) {
      this.#cache.delete(key)
      return undefined
    }
    const now = this.#now
    if (now && known.moment !== now && (known.moment.text === now.text || known.moment.isWithin(now))) {
      known.moment = now
      known.at = this.#learnt
    }
    return known
  }

  #isChanged({ tables, moment, at }: Kept): boolean {
    if (at === this.#learnt || moment.text === this.#now?.text) return false
    if (tables === 'anything' || this.#everythingChanged > at) return true
    for (const table of tables) if (this.#changes.get(table)?.isAfter(moment, at)) return true
    return false
  }

  /** A moment since the call, whose changes are known. */
  #ask(): Promise<Moment> {
    const { sent } = this.#source
    if (this.#asked?.sent !== sent || this.#asked.commits !== this.#commits)
      this.#asked = { sent, commits: this.#commits, moment: this.#learn() }
    return this.#asked.moment
  }

  async #learn(): Promise<Moment> {
    const since = this.#now
    const { rows } = await this.#source.query(readChanges(since))
    const { snapshot, complete, changes } = rows[0] as Answer
    if (this.#now?.text === snapshot) return this.#now
    const now = new Moment(snapshot)
    // Another answer that was later has come first.
    if (this.#now?.isOfDate(now) && now.isWithin(this.#now)) return this.#now
    this.#now = now
    this.#learnt++
    if (!complete || changes.length === maximumChanges || !since?.isOfDate(now)) this.#everythingChanged = this.#learnt
    else for (const change of changes) this.#note(change)
    return now
  }

  #note(change: string): void {
    const [transaction, table] = change.split(' ') as [string, string]
    let changes = this.#changes.get(table)
    if (!changes) this.#changes.set(table, (changes = new TableChanges()))
    changes.add(transaction, this.#learnt)
    if (table !== schemaTable) return
    this.#catalogue = undefined
    this.#everythingChanged = this.#learnt
  }

  /** Before the first read, a moment must be known from which on changes are learnt. */
  #catalogueNow(): Promise<TableCatalogue> {
    this.#catalogue ??= Promise.all([
      this.#source.query({ text: readCatalogue, values: [] }),
      this.#now ? undefined : this.#ask(),
    ])
      .then(([{ rows }]) => new TableCatalogue(rows as CatalogueRow[]))
      .catch((error) => {
        this.#catalogue = undefined
        throw error
      })
    return this.#catalogue
  }
}

const keyOf = ({ text, values }: Statement): string => `${knownText(text).id} ${JSON.stringify(values)}`

const isRows = (rows: readonly Row[]): rows is Rows => rows.length > 0

function sizeOf(rows: Rows, key: string): number {
  let bytes = key.length
  for (const row of rows) {
    bytes += overheadBytes
    for (const value of Object.values(row)) {
      if (typeof value === 'string') bytes += value.length
      else if (typeof value === 'object' && value !== null) bytes += JSON.stringify(value).length
    }
  }
  return bytes
}
