import type { Db, HoldersOf, Statement } from '../db/db.ts'
import type { Shape } from '../db/row.ts'
import { raw, type Sql } from '../db/sql.ts'

export type Direction = 'asc' | 'desc'

/**
 * How to read a part that has many rows: the first rows of the whole table, in the order of the list, are checked one by one. Only if too
 * few of them belong to the part, all of its rows are read and sorted.
 */
export type Crowded = {
  /** Whether looking for `rows` rows in the order takes less than reading all of the part. Has no columns, and is cheap. */
  readonly when: (rows: number) => Sql
  /** `from` of the list, with its table replaced by the rows of the table in this range, which may begin with a condition: `and … order by … limit …`. */
  readonly from: (range: Sql) => Sql
  /** The condition of the part, cheap for each row. */
  readonly where: Sql
  /** Rows of the table that are checked for each one that is needed, up to 65,536 in all; 256 if absent. */
  readonly among?: number
}

/**
 * How the rows of all other parts are found if those of the first one fill a page: the last of these ends it, so the others can only be before it.
 * The first rows of the whole table, up to that one, are looked at. Only if that row is not among them, all other parts are read.
 */
export type Preceding = {
  /** Whether looking at these takes less than reading the other parts, for a page that ends with row number `rows`. Has no columns, and is cheap. */
  readonly when: (rows: number) => Sql
  /** As that of `Crowded`. */
  readonly from: Crowded['from']
  /** The row belongs to one of the other parts. */
  readonly where: Sql
}

/** How a part with `few` is read if what leads to its rows takes longer than looking at all rows of the table, as with very many memberships. */
export type Scanned = {
  /** Has no columns, and is cheap. */
  readonly when: Sql
  /** Instead of the tables that the part is read from; the conditions are the same. */
  readonly from: Sql
}

/** Rows of a list that are read separately. */
export type ListPart = {
  /** A condition in addition to those of the list. */
  readonly where: Sql
  /**
   * The condition leads to few rows, as memberships do: these are read and then sorted. Otherwise rows are read in order, and the
   * planner, which does not know how many meet a condition, might read all rows that do not.
   */
  readonly few?: boolean
  /** For a part with `few` that may have many rows after all. */
  readonly crowded?: Crowded
  readonly scanned?: Scanned
  /** For a first part without `few` which may have many of the rows of the list. The first key of the order is never null. */
  readonly preceding?: Preceding | undefined
  /**
   * Other tables to read the part from. With conditions instead of those of the list, `where` of the part implies the others. For lists without
   * keyset.
   */
  readonly own?: { readonly from: Sql; readonly where?: Sql }
  /** The same rows `from` fewer tables, to be counted. */
  readonly counted?: { readonly from: Sql; readonly where: Sql }
  /** An expression for how many rows there are, if that is stored: nothing is counted then. */
  readonly number?: Sql | undefined
}

/** The only part of a list without parts. */
export const everything: ListPart = { where: raw('true') }

/** The parts of a list, of which the one that does not have `few` rows has a stored number of them. */
export const numbered = (parts: NonNullable<List['parts']>, number: Sql): NonNullable<List['parts']> =>
  parts.map((part) => (part.few ? part : { ...part, number })) as [ListPart, ...ListPart[]]

/** How those rows of a list are found that match a text, or a condition of another table with the same key. */
export type Matching = {
  /** With its alias: `projects p`. */
  readonly table: Sql
  readonly key: Sql
  /** An index answers it, as one of trigrams does. The list's `where` does not have it, unless there is `few`. */
  readonly condition: Sql
  /** The index finds all rows that match before the first is read, as one of trigrams does: if they are many, a sample says so. */
  readonly isSlow?: boolean
  /** Other conditions of the list lead to few rows: then the index is not asked. Has no columns, and is cheap. */
  readonly unless?: Sql
  /** Absent with `few`. */
  readonly walked?: Crowded['from']
  /**
   * The list has the condition, too: if many rows match, they are read as it says. If few do, they are read by their keys from these tables,
   * and these are all other conditions, without those of parts.
   */
  readonly few?: Pick<List, 'from' | 'where'>
  /** Up to this number of rows are few; 1,000 if absent. */
  readonly fewBelow?: number
  /** The rows that match, to be counted, if those of the list are not. */
  readonly counted?: ListPart['counted']
  /** How the list is read if very many rows match: by what else leads to its rows. The whole table in the order, if absent. */
  readonly ifVeryMany?: ListPart
}

/** How a list is read, as `decide` found out. */
export type Decided = Pick<List, 'parts' | 'given'> & {
  readonly from?: Sql
  readonly where?: readonly Sql[]
  /** More rows than the list has, if these are few: all are fetched at once, which gives the total, and serves the other pages. */
  readonly few?: number
}

/** A list as its module describes it; limit, offset or keyset and the count are added here. */
export type List = {
  /** `select … from …`, without a condition. Absent with `rowsById`. */
  readonly select?: Sql
  /** The rows to count: `from …`, as narrow as the conditions allow. */
  readonly from: Sql
  /**
   * Unique in `from` and in `select`, like `p.id`. With it the rows of a page are selected from `from` alone, so that the other
   * columns cost nothing for the rows before them.
   */
  readonly key?: Sql
  readonly where: readonly Sql[]
  /**
   * Disjoint parts of the list; requires `key`. Each is read from an index that suits it, up to the end of the page, and merged. A
   * single condition with `or` would be read row by row from the index of the order, past all rows that the caller cannot see.
   */
  readonly parts?: readonly [ListPart, ...ListPart[]] | undefined
  /** Leaves the rows that match a text. */
  readonly matching?: Matching | undefined
  /** Finds out with a first statement how the list is read: replaces parts of the description. */
  readonly decide?: ((db: Db) => Promise<Decided>) | undefined
  /** Common table expressions, `name as …`, to which the conditions of parts refer. */
  readonly given?: Sql | undefined
  /** One plan is as good for any values (`ofPage`), for a page and for the total. A test reads such lists with it. */
  readonly onePlan?: boolean | undefined
  /** The last key must be unique. Rows where a key is null come last in both directions if `nulls` says so. */
  readonly order: readonly { readonly by: Sql; readonly direction: Direction; readonly nulls?: 'last' }[]
  /**
   * Disjoint conditions, of which each row meets one: the rows that meet one of them have an index in the order. Rows are read in the order of each, and
   * merged: of a part that is `crowded`, only if each has enough of them. Absent if an index has all rows in the order.
   */
  readonly slices?: readonly Sql[] | undefined
  /** Set if the order is by id, so that pages can continue after an id. The rows must have `id`. */
  readonly keyset?: { readonly direction: Direction } | undefined
  /** Caches pages (`CachedReads`). Requires that nothing in the list depends on the clock, except the date. */
  readonly cached?: boolean
  /**
   * Caches each row by itself, and the ids of a page: a change that concerns one row, and neither the conditions nor the order, outdates
   * that row alone. Requires `cached`, a `key` that is the id, and an `id` in the shape.
   */
  readonly rowsById?: {
    readonly statementOf: (ids: readonly number[]) => Statement
    readonly holdersOf: (row: any) => ReturnType<HoldersOf<Shape>>
  }
  /** The ids of a page and the total depend on rows of this project and of groups only (`HoldersOf`). */
  readonly ofProject?: number | undefined
  /** Some conditions depend on the clock, as with what expires, so the total cannot be cached either. */
  readonly byClock?: boolean
  /** Rejects pages by number after the first 10,000 rows; for lists that support keyset pagination. */
  readonly capped?: boolean
  /** Name of the records, for messages. */
  readonly type: string
}
