import { raw, type Sql, sql } from '../sql.ts'
import type { Column } from './columns.ts'

/** What relations are exported with: a project, or a group. */
export type Holder = { readonly of: 'project' | 'group'; readonly id: number }

/** A record of an archive, by the names of the columns. */
export type PortableRecord = Readonly<Record<string, unknown>>

/**
 * The rows of a table that belong to a project or group, as an archive has them: a file of lines, each a record. The module
 * that owns the table declares it; `modules/portability` reads and writes the rows by the declaration alone.
 */
export type Relation = {
  /** Name of the file, without `.ndjson`; other relations refer to it by this name. */
  readonly name: string
  readonly table: string
  /** `from … t …`, where `t` is the table. */
  readonly from: Sql
  readonly where: (holder: Holder) => Sql
  /** Expressions without null that order the rows: integers, or `{ text }`. No two rows have the same values. */
  readonly order: readonly (string | { readonly text: string })[]
  /** In the order of the record. */
  readonly columns: Readonly<Record<string, Column>>
  /** The table has an identity column `id`: other relations can refer to its records. */
  readonly hasId?: true
  /** Columns that hold the id of the project or group. */
  readonly holder?: readonly string[]
  /**
   * Rows that violate a unique constraint are left out, because the users of several became one, or are treated as an `on conflict`
   * clause says; `key` names the columns of records in which such rows are equal. Otherwise the import fails.
   */
  readonly repeats?: 'skip' | { readonly clause: string; readonly key: readonly string[] }
  /**
   * No index has the order of the rows, and they are many: their ids are sorted once, in memory, instead of all rows in each statement.
   * The table has an identity column `id`.
   */
  readonly sortsIds?: true
  /** Rows per statement; less for those with large texts. Default 500. */
  readonly batch?: number
  /** Rows of the target that take the place of records: a statement with columns `key` and `id` for the keys of records. */
  readonly adopt?: {
    /** Records of which rows of the target may take the place. */
    readonly among: (record: PortableRecord) => boolean
    /** A record with the key of an earlier one is that one. */
    readonly key: (record: PortableRecord) => string
    readonly find: (holder: Holder, keys: readonly string[]) => Sql
  }
  /** Changes a record before it is stored: gives those a number that have none. Undefined leaves it out. */
  readonly amend?: (record: PortableRecord, import_: Amending) => PortableRecord | undefined
  /** Only administrators import it, or also export it. */
  readonly administrators?: 'import' | 'both'
  /** Statements after all rows of the archive are inserted. */
  readonly after?: (holder: Holder) => readonly Sql[]
  /** Deletes rows that may not be where the archive is imported. They count as left out. */
  readonly refuse?: (holder: Holder) => Sql
}

/** What `amend` knows of the import. `state` lasts while the rows of the relation are inserted. */
export type Amending = {
  /** The line of the record, from 1. */
  readonly line: number
  readonly state: Map<string, number>
  /** The name of a user whom the importer replaces; undefined if the user was found. */
  readonly lostName: (username: string) => string | undefined
  /** Counts records that are left out; without a name, those of the relation. Records for which `amend` returns undefined are counted anyway. */
  readonly leaveOut: (relation?: string, count?: number) => void
}

/** Rows per statement. */
export const batchOf = ({ batch = 500 }: Relation): number => batch

/** Where rows of a table `t` that belong to rows of a table of the project, `m`, are found. */
export const below = (parent: string, column: string, table: string): Pick<Relation, 'from' | 'where' | 'table'> => ({
  table,
  from: raw(`from ${parent} m join ${table} t on t.${column} = m.id`),
  where: ({ id }) => sql`m.project_id = ${id}`,
})

/** Where rows of a table `t` with the id of their project are found. */
export const heldBy = (table: string): Pick<Relation, 'from' | 'where' | 'table'> => ({
  table,
  from: raw(`from ${table} t`),
  where: ({ id }) => sql`t.project_id = ${id}`,
})
