import { LRUCache } from 'lru-cache'
import { isTooLarge } from '../kernel/failure.ts'
import { beginCheck, type StatementCheck } from './checks.ts'
import { type CachedReads, type HoldersOf, ofPage, type Statement } from './db.ts'
import { KnownChanges, moment, type Source } from './known-changes.ts'
import { Moment } from './moment.ts'
import type { RequestSnapshot } from './request-snapshot.ts'
import type { integer, RowOf, Shape } from './row.ts'
import { knownText } from './statement.ts'
import { type CatalogueRow, readCatalogue, TableCatalogue } from './table-catalogue.ts'
import type { Watched } from './table-changes.ts'

/** Maximum size of the cached rows, unless said otherwise. */
const usualBytes = 8 * 1024 * 1024
/** Approximate size of a row besides its values. */
const overheadBytes = 500

type Row = { readonly snapshot: string }
/** At least one row; all of one snapshot. */
type Rows = readonly [Row, ...Row[]]

/** The rows of keys; those of ids that do not exist are missing. */
type Found = ReadonlyMap<string, readonly Row[]>

type Kept = {
  readonly rows: Rows
  readonly watched: Watched | 'anything'
  /** The rows are those of this moment. */
  moment: Moment
  /** Changes that were learnt up to this time of `KnownChanges` were made before the rows were read. */
  at: number
}

/**
 * Caches rows while what their statement names is unchanged (docs/adr/0035-rows-cached-by-table.md, 0036-changes-by-holder.md). The result of a
 * statement depends on its snapshot alone: a row is exact, in every process, if no transaction that has become visible since it was read has
 * changed one of these tables, or rows of the holders that matter. One query returns what was changed since the last time it was asked, and
 * concurrent callers share it.
 */
export class SnapshotCache implements CachedReads {
  readonly #source: Source
  readonly #check: StatementCheck | undefined
  readonly #cache: LRUCache<string, Kept>
  /** Running statements by key, each once for all callers. */
  readonly #reading = new Map<string, Promise<Found>>()
  #catalogue: Promise<TableCatalogue> | undefined
  readonly #changes: KnownChanges

  constructor(source: Source, check?: StatementCheck, maximumBytes = usualBytes) {
    this.#cache = new LRUCache({
      maxSize: Math.floor(maximumBytes),
      sizeCalculation: ({ rows }, key) => sizeOf(rows, key),
    })
    this.#source = source
    this.#check = check
    this.#changes = new KnownChanges(source, () => {
      this.#catalogue = undefined
    })
  }

  /** This process has committed a transaction: rows that a request has seen may be outdated. */
  invalidate(): void {
    this.#changes.commits++
  }

  expects(shape: Shape, statement: Statement): boolean {
    // Totals are expected more often than they are needed: so tests check them for every list that they read.
    beginCheck(this.#check, 'cached', shape, statement)
    return this.#known(keyOf(statement)) !== undefined
  }

  async row<S extends Shape>(
    shape: S,
    statement: Statement,
    holdersOf?: HoldersOf<S>,
    request?: RequestSnapshot,
  ): Promise<Readonly<RowOf<S>> | undefined> {
    return (await this.rows(shape, statement, holdersOf, request))[0]
  }

  /** With `request`, the rows may be those of the snapshot that the request has seen. */
  async rows<S extends Shape>(
    shape: S,
    statement: Statement,
    holdersOf?: HoldersOf<S>,
    request?: RequestSnapshot,
  ): Promise<readonly Readonly<RowOf<S>>[]> {
    const checked = beginCheck(this.#check, 'cached', shape, statement)
    const key = keyOf(statement)
    const read = async () => {
      const { rows, keep } = await this.#query(statement, holdersOf)
      if (isRows(rows)) keep(key, rows)
      return new Map([[key, rows]])
    }
    const rows: readonly unknown[] = (await this.#find([key], read, request)).get(key)!
    if (checked) await checked(rows as readonly object[])
    return rows as readonly Readonly<RowOf<S>>[]
  }

  /** With `request`, as `rows`. */
  async byId<S extends Shape & { readonly id: typeof integer }>(
    shape: S,
    ids: readonly number[],
    statementOf: (ids: readonly number[]) => Statement,
    holdersOf?: HoldersOf<S>,
    request?: RequestSnapshot,
  ): Promise<ReadonlyMap<number, Readonly<RowOf<S>>>> {
    if (ids.length === 0) return new Map()
    const statement = statementOf(ids)
    const checked = beginCheck(this.#check, 'cached', shape, statement)
    const keyOfId = keysById(statement, ids)
    const idOf = new Map(ids.map((id) => [keyOfId(id), id]))
    const read = async (missing: readonly string[]) => {
      const { rows, keep } = await this.#query(ofPage(statementOf(missing.map((key) => idOf.get(key)!))), holdersOf)
      const read = new Map<string, Rows>()
      for (const row of rows) {
        const key = keyOfId((row as unknown as { readonly id: number }).id)
        read.set(key, keep(key, [row]))
      }
      return read
    }
    const found = await this.#find([...idOf.keys()], read, request)
    const rows = new Map<number, Readonly<RowOf<S>>>()
    for (const [key, [row]] of found) rows.set(idOf.get(key)!, row as unknown as RowOf<S>)
    if (checked) await checked([...rows.values()])
    return rows
  }

  /** The rows of each key; `read` reads those that are not cached, and keeps them. */
  async #find(
    keys: readonly string[],
    read: (missing: readonly string[]) => Promise<Found>,
    request: RequestSnapshot | undefined,
  ): Promise<Found> {
    const earlier = keys.flatMap((key) => this.#reading.get(key) ?? [])
    // Concurrent reads of the same rows began earlier. What they read is current if its tables were not changed meanwhile.
    if (earlier.length > 0) await Promise.allSettled(earlier)
    const known = keys.map((key) => this.#known(key))
    if (request && known.every((each) => each && request.has(each.moment.text, this.#changes.commits)))
      return new Map(keys.map((key, index) => [key, known[index]!.rows]))
    const see = request?.looking(this.#changes.commits)
    const found = new Map<string, readonly Row[]>()
    if (known.some((each) => each)) {
      await this.#changes.learn()
      for (const key of keys) {
        const still = this.#known(key)
        if (still && still.moment === this.#changes.now) found.set(key, still.rows)
      }
      if (found.size > 0) see?.(this.#changes.now!.text)
    }
    const missing = keys.filter((key) => !found.has(key))
    if (missing.length === 0) return found
    // A read in progress now began after this call, so its rows are current.
    const shared = new Set(missing.flatMap((key) => this.#reading.get(key) ?? []))
    const unread = missing.filter((key) => !this.#reading.has(key))
    const own = unread.length > 0 ? [this.#read(unread, read)] : []
    /** If others read more of them than one page has, only those that are missing here are read. */
    const others = [...shared].map((reading) =>
      reading.catch((error) => {
        if (!isTooLarge(error)) throw error
        return read(missing.filter((key) => !unread.includes(key)))
      }),
    )
    for (const rowsOfKeys of await Promise.all([...own, ...others]))
      for (const key of missing) {
        const rows = rowsOfKeys.get(key)
        if (!rows) continue
        found.set(key, rows)
        if (isRows(rows)) see?.(rows[0].snapshot)
      }
    return found
  }

  #read(keys: readonly string[], read: (keys: readonly string[]) => Promise<Found>): Promise<Found> {
    const reading = read(keys).finally(() => {
      for (const key of keys) this.#reading.delete(key)
    })
    for (const key of keys) this.#reading.set(key, reading)
    return reading
  }

  /** Rows, and a function that caches some of them under a key. */
  async #query<S extends Shape>(
    { text, values, onePlan, maxBytes }: Statement,
    holdersOf: HoldersOf<S> | undefined,
  ): Promise<{ rows: readonly Row[]; keep: (key: string, rows: Rows) => Rows }> {
    const catalogue = await this.#catalogueNow()
    // The statement sees at least what is known now.
    const at = this.#changes.time
    const { rows } = await this.#source.query({
      text: `select cached.*, ${moment.text} as snapshot from (${text}) as cached`,
      values,
      ...(onePlan && { onePlan }),
      maxBytes,
    })
    for (const row of rows as readonly Row[]) {
      this.#check?.freeze(row)
      Object.freeze(row)
    }
    const dependencies = catalogue.of(text)
    const watch = (found: Rows): Watched | 'anything' => {
      if (dependencies === 'anything') return dependencies
      const { all, whole, byHolder, byHolderOnly, byMergeRequest } = catalogue.split(dependencies)
      if (!holdersOf) return { names: all }
      const { mergeRequests, ...holders } = holdersOfRows(found, holdersOf)
      if (!mergeRequests) return { names: whole, byHolder: { names: byHolder, ...holders } }
      return {
        names: whole,
        byHolder: { names: byHolderOnly, ...holders },
        byMergeRequest: { names: byMergeRequest, ids: mergeRequests },
      }
    }
    return {
      rows: rows as readonly Row[],
      keep: (key, found) => {
        const moment = new Moment(found[0].snapshot)
        this.#cache.set(key, { rows: Object.freeze(found), watched: watch(found), moment, at })
        return found
      },
    }
  }

  /** Rows that are exact as far as this process knows, brought to its moment unless they are later. */
  #known(key: string): Kept | undefined {
    const known = this.#cache.get(key)
    if (!known) return undefined
    const { now, time } = this.#changes
    if (this.#changes.isAfter(known.watched, known.moment, known.at)) {
      this.#cache.delete(key)
      return undefined
    }
    if (now && known.moment !== now && (known.moment.text === now.text || known.moment.isWithin(now))) {
      known.moment = now
      known.at = time
    }
    return known
  }

  /** Before the first read, a moment must be known from which on changes are learnt. */
  #catalogueNow(): Promise<TableCatalogue> {
    this.#catalogue ??= Promise.all([
      this.#source.query({ text: readCatalogue, values: [] }),
      this.#changes.now ? undefined : this.#changes.learn(),
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

/** Keys of the rows of ids, which the statement has among its values. */
function keysById({ text, values }: Statement, ids: readonly number[]): (id: number) => string {
  const others = values.filter((value) => value !== ids)
  if (others.length !== values.length - 1) throw new Error('the ids are not one of the values')
  const key = `${knownText(text).id} ${JSON.stringify(others)} `
  return (id) => key + id
}

function holdersOfRows<S extends Shape>(rows: Rows, holdersOf: HoldersOf<S>) {
  const each = rows.map((row) => holdersOf(row as unknown as RowOf<S>))
  const known = (ids: readonly (number | null)[]) => ids.filter((id) => id !== null)
  return {
    ids: new Set(each.flatMap(({ projects, groups = [] }) => [...known(projects), ...known(groups).map((id) => -id)])),
    allGroups: each.some(({ groups }) => !groups),
    mergeRequests: each.every(({ mergeRequests }) => mergeRequests)
      ? new Set(each.flatMap(({ mergeRequests }) => mergeRequests!))
      : undefined,
  }
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
