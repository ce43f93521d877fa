import { LRUCache } from 'lru-cache'
import { beginCheck, type StatementCheck } from './checks.ts'
import type { KeptReads, Statement } from './db.ts'
import type { RowOf, Shape } from './row.ts'
import { type Sql, sql } from './sql.ts'
import { prepared } from './statement.ts'

/** Names what a statement sees: which transactions are committed, and the day, because access expires by date. */
const moment = sql`pg_current_snapshot()::text || current_date`
const askMoment: Sql = sql`select ${moment} as moment`

const maximumBytes = 16 * 1024 * 1024
/** What a row costs besides its values, roughly. */
const overheadBytes = 500

type Row = { readonly moment: string }
/** At least one; all of one moment. */
type Rows = readonly [Row, ...Row[]]

/** Runs the statements. All queries under the same number of `sent` are sent together, after the last of them. */
export type Source = {
  query(statement: Statement): Promise<{ readonly rows: readonly unknown[] }>
  readonly sent: number
}

/**
 * Rows that are kept for as long as nothing at all is committed. What a snapshot sees follows from it alone, so a row of the
 * same snapshot is exact, in any process; and one question for the snapshot serves all who ask before it goes out. A row
 * whose moment is not the last one seen is known to be old without asking: a commit costs one vain question at most, none when
 * it was made here (`outdate`), and one reading of each thing that is wanted, however many want it.
 */
export class KeptRows implements KeptReads {
  readonly #source: Source
  readonly #check: StatementCheck | undefined
  readonly #kept = new LRUCache<string, Rows>({ maxSize: maximumBytes, sizeCalculation: sizeOf })
  /** Statements under way, by key: each once, however many want it. */
  readonly #reading = new Map<string, Promise<readonly Row[]>>()
  #last = ''
  #asked: { sent: number; moment: Promise<string> } | undefined

  constructor(source: Source, check?: StatementCheck) {
    this.#source = source
    this.#check = check
  }

  /** Something was committed here: what was read before is old. */
  outdate(): void {
    this.#last = ''
  }

  expects(statement: Statement): boolean {
    return this.#known(keyOf(statement)) !== undefined
  }

  async row<S extends Shape>(shape: S, statement: Statement): Promise<Readonly<RowOf<S>> | undefined> {
    return (await this.rows(shape, statement))[0]
  }

  async rows<S extends Shape>(shape: S, statement: Statement): Promise<readonly Readonly<RowOf<S>>[]> {
    const checked = beginCheck(this.#check, 'cached', shape, statement)
    const rows: readonly unknown[] = await this.#rows(statement)
    if (checked) await checked(rows as readonly object[])
    return rows as readonly Readonly<RowOf<S>>[]
  }

  async #rows(statement: Statement): Promise<readonly Row[]> {
    const key = keyOf(statement)
    // A concurrent read of the same statement began earlier. Its rows are current if nothing was committed meanwhile.
    await this.#reading.get(key)?.catch(() => {})
    const known = this.#known(key)
    if (known && (await this.#moment()) === known[0].moment) return known
    // A read in progress now began after this call, so its rows are current.
    return this.#reading.get(key) ?? this.#read(key, statement)
  }

  #read(key: string, { text, values }: Statement): Promise<readonly Row[]> {
    const reading = this.#source
      .query({ text: `select kept.*, ${moment.text} as moment from (${text}) as kept`, values })
      .then(({ rows }) => this.#keep(key, rows as readonly Row[]))
      .finally(() => this.#reading.delete(key))
    this.#reading.set(key, reading)
    return reading
  }

  #keep(key: string, rows: readonly Row[]): readonly Row[] {
    if (!isRows(rows)) return rows
    this.#last = rows[0].moment
    for (const row of rows) {
      this.#check?.freeze(row)
      Object.freeze(row)
    }
    this.#kept.set(key, Object.freeze(rows))
    return rows
  }

  #known(key: string): Rows | undefined {
    const known = this.#kept.get(key)
    return known?.[0].moment === this.#last ? known : undefined
  }

  #moment(): Promise<string> {
    const { sent } = this.#source
    if (this.#asked?.sent !== sent) this.#asked = { sent, moment: this.#ask() }
    return this.#asked.moment
  }

  async #ask(): Promise<string> {
    const { rows } = await this.#source.query(askMoment)
    const { moment } = rows[0] as Row
    this.#last = moment
    return moment
  }
}

function keyOf(statement: Statement): string {
  const { name, text, values } = prepared(statement)
  return `${name ?? text} ${JSON.stringify(values)}`
}

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
