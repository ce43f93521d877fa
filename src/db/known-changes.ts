import { byKey, type Statement } from './db.ts'
import { Moment } from './moment.ts'
import { raw, type Sql, sql } from './sql.ts'
import { type Change, TableChanges, type Watched } from './table-changes.ts'

/** The moment of a statement (`Moment`). */
export const moment = sql`pg_current_snapshot()::text || ' ' || current_date`

/** Changes that are read at once; beyond, everything counts as changed. */
const maximumChanges = 1_000

const change = raw(
  `concat_ws(' ', transaction, relation, coalesce(array_to_string(holders, ','), '-'), coalesce(array_to_string(merge_requests, ','), '-'))`,
)

/**
 * The present moment, and which transactions have changed which tables since another one. The upper bound is no condition: with it, the planner
 * takes the changes for few, whatever the parameters, and reads the index. Else it reads all changes of the last minutes.
 */
export const readChanges = (since: Moment | undefined): Sql => sql`
  select ${moment} as snapshot,
    coalesce((select since from table_changes_kept) <= ${since?.begin ?? '0'}::xid8, false) as complete,
    array(
      (
        select ${change}
        from table_changes
        where transaction = any(${since?.running ?? []}::xid8[])
        union all
        select ${change}
        from table_changes
        where transaction >= ${since?.end ?? '0'}::xid8 and transaction < pg_snapshot_xmax(pg_current_snapshot())
      )
      limit ${maximumChanges}
    ) as changes
`

type Answer = {
  readonly snapshot: string
  /** All changes are recorded. */
  readonly complete: boolean
  /** Each is a `Change`, with spaces between its parts. */
  readonly changes: readonly string[]
}

/** A change of it may have changed everything: the functions and tables themselves. */
const schemaTable = 'schema_migrations'

/** Runs the statements. All queries under the same number of `sent` are sent together, after the last of them. */
export type Source = {
  query(statement: Statement): Promise<{ readonly rows: readonly unknown[] }>
  readonly sent: number
}

/**
 * What a process knows of the changes that were committed, by itself or by others. One query asks for those since the last answer, and concurrent
 * callers share it.
 */
export class KnownChanges {
  readonly #source: Source
  readonly #onSchema: () => void
  readonly #changes = new TableChanges()
  #now: Moment | undefined
  #time = 0
  #everythingChanged = 0
  #asked: { sent: number; commits: number; moment: Promise<Moment> } | undefined
  /** Transactions that this process has committed. */
  commits = 0

  /** Calls `onSchema` when functions or tables themselves have changed. */
  constructor(source: Source, onSchema: () => void) {
    this.#source = source
    this.#onSchema = onSchema
  }

  /** The latest moment of which the process knows all changes before. */
  get now(): Moment | undefined {
    return this.#now
  }

  /** How often the process has learnt that anything was committed: its measure of time. */
  get time(): number {
    return this.#time
  }

  /** Whether a transaction that was learnt after `at`, and that the moment did not see, has changed any of what is watched. */
  isAfter(watched: Watched | 'anything', moment: Moment, at: number): boolean {
    if (at === this.#time || moment.text === this.#now?.text) return false
    if (watched === 'anything' || this.#everythingChanged > at) return true
    return this.#changes.isAfter(watched, moment, at)
  }

  /** Learns the changes before a moment since the call. */
  learn(): Promise<Moment> {
    const { sent } = this.#source
    if (this.#asked?.sent !== sent || this.#asked.commits !== this.commits) {
      const asked = { sent, commits: this.commits, moment: this.#ask() }
      this.#asked = asked
      // Without a connection nothing is sent, so the number stays the same, and later callers would get this failure.
      asked.moment.catch(() => {
        if (this.#asked === asked) this.#asked = undefined
      })
    }
    return this.#asked.moment
  }

  async #ask(): Promise<Moment> {
    const since = this.#now
    const { rows } = await this.#source.query(byKey(readChanges(since)))
    const { snapshot, complete, changes } = rows[0] as Answer
    if (this.#now?.text === snapshot) return this.#now
    const now = new Moment(snapshot)
    // Another answer that was later has come first.
    if (this.#now?.isOfDate(now) && now.isWithin(this.#now)) return this.#now
    this.#now = now
    this.#time++
    if (!complete || changes.length === maximumChanges || !since?.isOfDate(now)) this.#everythingChanged = this.#time
    else for (const change of changes) this.#note(change)
    return now
  }

  #note(change: string): void {
    const parts = change.split(' ') as unknown as Change
    this.#changes.add(parts, this.#time)
    if (parts[1] !== schemaTable) return
    this.#onSchema()
    this.#everythingChanged = this.#time
  }
}
