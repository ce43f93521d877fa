import { knownText } from './statement.ts'

/** Bits of `tgtype` for insert, delete, update and truncate. */
const everyChange = 60

/** Reads a row for each table, view and function of the schema, and for each table of another schema. */
export const readCatalogue = `
  select c.relname as name, c.relkind = 'v' as is_view, pg_get_viewdef(c.oid) as body, notes.tracked, notes.by_holder,
    case
      when notes.by_column then (
        select array_agg(a.attname::text) from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      )
      else notes.columns
    end as columns, notes.by_column
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  cross join lateral (
    select coalesce(bit_or(t.tgtype) & ${everyChange} = ${everyChange}, false) as tracked,
      coalesce(
        array_agg(encode(substr(t.tgargs, 1, length(t.tgargs) - 1), 'escape')) filter (where t.tgnargs > 0), '{}'
      ) as columns,
      coalesce(bool_or(p.proname = 'note_change_by_holder'), false) as by_holder,
      coalesce(bool_or(p.proname = 'note_change_by_holder' and t.tgnargs > 0), false) as by_column
    from pg_trigger t join pg_proc p on p.oid = t.tgfoid
    where t.tgrelid = c.oid and p.proname in ('note_table_change', 'note_change_by_holder') and t.tgenabled = 'A'
  ) notes
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
  union all
  select p.proname, true, p.prosrc, false, false, '{}', false
  from pg_proc p
  where p.pronamespace = current_schema()::regnamespace
`

export type CatalogueRow = {
  readonly name: string
  /** Its body says what it reads: a view or function. */
  readonly is_view: boolean
  readonly body: string | null
  /** `table_changes` has all its changes. */
  readonly tracked: boolean
  /** Columns whose changes it has under names of their own. */
  readonly columns: readonly string[]
  /** These are all columns, and a change of the version of a row alone has the name `xmin`. */
  readonly by_column: boolean
  /** It has the projects and groups of the changed rows. */
  readonly by_holder: boolean
}

/**
 * Names of the tables, and of columns with names of their own, on which the rows of a statement may depend; `anything` if changes of one
 * of them are not recorded.
 */
export type Dependencies = ReadonlySet<string> | 'anything'

/** Tables whose changes are recorded with the merge requests that they concern (migration 0095). */
const ofMergeRequests: ReadonlySet<string> = new Set(['merge_requests', 'notes'])

/** Tables that only triggers of another one write, with values of its columns of the same names: its changes are theirs. */
export const copiedFrom: Readonly<Record<string, string>> = {
  issue_updates: 'issues',
  merge_request_updates: 'merge_requests',
  project_activity: 'projects',
}

type Table = { readonly tracked: boolean; readonly columns: readonly string[]; readonly byHolder: boolean }

/** They read all columns of a row. Alone, the name of a table is not taken for its whole row: statements name columns. */
const wholeRow =
  /(\.|\bselect\s+|\bdistinct\s+|\ball\s+|,\s*)\*|\)\s*\*\s*(from\b|,)|\b(xmin|ctid|to_jsonb?|row_to_json)\b/

/** After an alias: all columns, of which those that are named outside of the subquery matter. */
export const passedOn = '.* /* as named outside */'

/** Tells which tables a statement may read, from the names in its text: more than it reads, never fewer. */
export class TableCatalogue {
  readonly #tables = new Map<string, Table>()
  readonly #bodies = new Map<string, string[]>()
  readonly #known = new WeakMap<object, Dependencies>()
  readonly #split = new WeakMap<ReadonlySet<string>, ReturnType<TableCatalogue['split']>>()

  constructor(rows: readonly CatalogueRow[]) {
    for (const { name, is_view, body, tracked, columns, by_column, by_holder: byHolder } of rows)
      if (is_view) this.#bodies.set(name, [...(this.#bodies.get(name) ?? []), body ?? ''])
      else if (copiedFrom[name]) this.#bodies.set(name, [copiedFrom[name]])
      else
        this.#tables.set(name, {
          tracked: tracked && (this.#tables.get(name)?.tracked ?? true),
          columns: by_column ? [...columns, 'xmin'] : columns,
          byHolder,
        })
  }

  /**
   * All names; and in two parts, of which the changes of one are recorded with the projects and groups of the changed rows. Of these, some are
   * recorded with the merge requests, too: they are apart from the rest.
   */
  split(names: ReadonlySet<string>): {
    readonly all: readonly string[]
    readonly whole: readonly string[]
    readonly byHolder: readonly string[]
    readonly byHolderOnly: readonly string[]
    readonly byMergeRequest: readonly string[]
  } {
    const known = this.#split.get(names)
    if (known) return known
    const tableOf = (name: string) => name.split('.')[0]!
    const byHolder = [...names].filter((name) => this.#tables.get(tableOf(name))?.byHolder)
    const made = {
      all: [...names],
      whole: [...names].filter((name) => !byHolder.includes(name)),
      byHolder,
      byHolderOnly: byHolder.filter((name) => !ofMergeRequests.has(tableOf(name))),
      byMergeRequest: byHolder.filter((name) => ofMergeRequests.has(tableOf(name))),
    }
    this.#split.set(names, made)
    return made
  }

  of(text: string): Dependencies {
    const statement = knownText(text)
    const known = this.#known.get(statement)
    if (known) return known
    const found = this.#find(text)
    this.#known.set(statement, found)
    return found
  }

  #find(text: string): Dependencies {
    const found = new Set<string>()
    const seen = new Set<string>()
    const texts = [text.toLowerCase()]
    let readsRows = false
    for (let next = texts.pop(); next !== undefined; next = texts.pop()) {
      readsRows ||= wholeRow.test(next.replaceAll(passedOn, ''))
      for (const [word] of next.matchAll(/[a-z_][a-z0-9_$]*/g)) {
        if (seen.has(word)) continue
        seen.add(word)
        if (this.#tables.get(word)?.tracked === false) return 'anything'
        if (this.#tables.has(word)) found.add(word)
        for (const body of this.#bodies.get(word) ?? []) texts.push(body.toLowerCase())
      }
    }
    for (const table of [...found])
      for (const column of this.#tables.get(table)!.columns)
        if (readsRows || seen.has(column)) found.add(`${table}.${column}`)
    return found
  }
}
