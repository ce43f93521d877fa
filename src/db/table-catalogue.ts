import { knownText } from './statement.ts'

/** Reads a row for each table, view and function of the schema, and for each table of another schema. */
export const readCatalogue = `
  select c.relname as name, c.relkind = 'v' as is_view, pg_get_viewdef(c.oid) as body,
    exists (
      select from pg_trigger t where t.tgrelid = c.oid and t.tgname = 'note_table_change' and t.tgenabled = 'O'
    ) as tracked
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
  union all
  select p.proname, true, p.prosrc, false
  from pg_proc p
  where p.pronamespace = current_schema()::regnamespace
`

export type CatalogueRow = {
  readonly name: string
  /** Its body says what it reads: a view or function. */
  readonly is_view: boolean
  readonly body: string | null
  /** `table_changes` has its changes. */
  readonly tracked: boolean
}

/** Names of the tables on which the rows of a statement may depend, or `anything` if changes of one of them are not recorded. */
export type Dependencies = ReadonlySet<string> | 'anything'

/** Tells which tables a statement may read, from the names in its text: more than it reads, never fewer. */
export class TableCatalogue {
  readonly #tables = new Map<string, { readonly tracked: boolean }>()
  readonly #bodies = new Map<string, string[]>()
  readonly #known = new WeakMap<object, Dependencies>()

  constructor(rows: readonly CatalogueRow[]) {
    for (const { name, is_view, body, tracked } of rows)
      if (is_view) this.#bodies.set(name, [...(this.#bodies.get(name) ?? []), body ?? ''])
      else this.#tables.set(name, { tracked: tracked && (this.#tables.get(name)?.tracked ?? true) })
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
    const texts = [text]
    for (let next = texts.pop(); next !== undefined; next = texts.pop())
      for (const [word] of next.toLowerCase().matchAll(/[a-z_][a-z0-9_$]*/g)) {
        if (seen.has(word)) continue
        seen.add(word)
        const table = this.#tables.get(word)
        if (table && !table.tracked) return 'anything'
        if (table) found.add(word)
        texts.push(...(this.#bodies.get(word) ?? []))
      }
    return found
  }
}
