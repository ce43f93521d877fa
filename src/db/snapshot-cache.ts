import { LRUCache } from 'lru-cache'
import { beginCheck, type StatementCheck } from './checks.ts'
import type { CachedReads, Statement } from './db.ts'
import type { RequestSnapshot } from './request-snapshot.ts'
import type { RowOf, Shape } from './row.ts'
import { type Sql, sql } from './sql.ts'
import { knownText } from './statement.ts'

/** Identifies what a statement sees: the committed transactions, and the date, because access expires by date. */
const snapshot = sql`pg_current_snapshot()::text || current_date`
const readSnapshot: Sql = sql`select ${snapshot} as snapshot`

/** Maximum size of the cached rows, unless said otherwise. */
const usualBytes = 8 * 1024 * 1024
/** Approximate size of a row besides its values. */
const overheadBytes = 500

type Row = { readonly snapshot: string }
/** At least one row; all of one snapshot. */
type Rows = readonly [Row, ...Row[]]

/** Runs the statements. All queries under the same number of `sent` are sent together, after the last of them. */
export type Source = {
  query(statement: Statement): Promise<{ readonly rows: readonly unknown[] }>
  readonly sent: number
}

/**
 * Caches rows while nothing is committed. The result of a statement depends on its snapshot alone, so a row of the current snapshot
 * is exact, in every process; concurrent callers share one check of the snapshot. A row of an older snapshot than the last one seen
 * is discarded without a check: a commit costs one wasted check at most, none after a commit of this process (`invalidate`), and
 * one read of each requested statement.
 */
export class SnapshotCache implements CachedReads {
  readonly #source: Source
  readonly #check: StatementCheck | undefined
  readonly #cache: LRUCache<string, Rows>
  /** Running statements by key, each once for all callers. */
  readonly #reading = new Map<string, Promise<readonly Row[]>>()
  #last = ''
  /** Transactions that this process has committed. */
  #commits = 0
  #asked: { sent: number; snapshot: Promise<string> } | undefined

  constructor(source: Source, check?: StatementCheck, maximumBytes = usualBytes) {
    this.#cache = new LRUCache({ maxSize: Math.floor(maximumBytes), sizeCalculation: sizeOf })
    this.#source = source
    this.#check = check
  }

  /** This process has committed a transaction: earlier rows are outdated. */
  invalidate(): void {
    this.#last = ''
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
    // A concurrent read of the same statement began earlier. Its rows are current if nothing was committed meanwhile.
    if (earlier) await earlier.catch(() => {})
    const known = this.#known(key)
    if (known && request?.has(known[0].snapshot, this.#commits)) return known
    const see = request?.looking(this.#commits)
    if (known) {
      const snapshot = await this.#snapshot()
      see?.(snapshot)
      if (snapshot === known[0].snapshot) return known
    }
    // A read in progress now began after this call, so its rows are current.
    const rows = await (this.#reading.get(key) ?? this.#read(key, statement))
    if (isRows(rows)) see?.(rows[0].snapshot)
    return rows
  }

  #read(key: string, { text, values }: Statement): Promise<readonly Row[]> {
    const reading = this.#source
      .query({ text: `select cached.*, ${snapshot.text} as snapshot from (${text}) as cached`, values })
      .then(({ rows }) => this.#keep(key, rows as readonly Row[]))
      .finally(() => this.#reading.delete(key))
    this.#reading.set(key, reading)
    return reading
  }

  #keep(key: string, rows: readonly Row[]): readonly Row[] {
    if (!isRows(rows)) return rows
    this.#last = rows[0].snapshot
    for (const row of rows) {
      this.#check?.freeze(row)
      Object.freeze(row)
    }
    this.#cache.set(key, Object.freeze(rows))
    return rows
  }

  #known(key: string): Rows | undefined {
    const known = this.#cache.get(key)
    return known?.[0].snapshot === this.#last ? known : undefined
  }

  #snapshot(): Promise<string> {
    const { sent } = this.#source
    if (this.#asked?.sent !== sent) this.#asked = { sent, snapshot: this.#ask() }
    return this.#asked.snapshot
  }

  async #ask(): Promise<string> {
    const { rows } = await this.#source.query(readSnapshot)
    const { snapshot } = rows[0] as Row
    this.#last = snapshot
    return snapshot
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
