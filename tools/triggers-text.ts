import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ownerOfTable } from './boundaries/tables.ts'

export const triggersFile = fileURLToPath(new URL('../docs/triggers.md', import.meta.url))
const migrations = fileURLToPath(new URL('../src/db/migrations/', import.meta.url))

/** A trigger as the database describes it. `comment` says why it exists. */
export type TriggerRow = {
  readonly name: string
  readonly table_name: string
  readonly definition: string
  readonly function_name: string
  readonly comment: string | null
}

/** Every trigger of our tables, by table and name, without those that every table has. */
export const triggersQuery = `
  select t.tgname as name, c.relname as table_name, pg_get_triggerdef(t.oid) as definition, p.proname as function_name,
    obj_description(t.oid, 'pg_trigger') as comment
  from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_proc p on p.oid = t.tgfoid
  where not t.tgisinternal and c.relnamespace = 'public'::regnamespace and p.proname not in ('note_table_change', 'note_change_by_holder')
  order by c.relname collate "C", t.tgname collate "C"`

/** Whether the trigger acts only for writes of the previous release (see `0038_triggers_explained.sql`). */
const isSuperseded = ({ definition }: TriggerRow): boolean => definition.includes('stithy.rules')

const introduction = `# Triggers

Generated from a migrated database and its comments by \`npm run triggers\`; correct errors in a migration (\`comment on trigger\`).

A trigger guards an invariant that must hold whatever writes the table: several statements, a cascade of a foreign key, another trigger,
or an administrator with \`psql\`. Rules of the product are in services and reactions (\`src/reactions.ts\`), where TypeScript shows them.

Besides these, every logged table has triggers that record which transaction has changed it, for the row cache
([ADR 35](adr/0035-rows-cached-by-table.md)).
`

const supersededIntroduction = `## Only for the previous release

Services apply these rules now. The triggers act only for the previous release, which must work with this schema: a connection of this
release sets \`stithy.rules\` (\`src/db/connection.ts\`), and their conditions exclude it. A migration of the next release drops them.
`

/** The migration that last defined a function. */
function migrationOf(functionName: string): string {
  const files = readdirSync(migrations).filter((file) => file.endsWith('.sql'))
  const defines = new RegExp(`\\bfunction ${functionName}\\(\\) returns trigger`)
  return files.sort().findLast((file) => defines.test(readFileSync(migrations + file, 'utf8')))!
}

/** Such as `AFTER INSERT OR UPDATE OF level`, in lower case. */
const momentOf = ({ definition }: TriggerRow): string =>
  /^CREATE TRIGGER \S+ (.+?) ON /.exec(definition)![1]!.replace(/\b[A-Z]+\b/g, (word) => word.toLowerCase())

function rowText(trigger: TriggerRow): string {
  const { name, table_name, function_name, comment } = trigger
  const migration = migrationOf(function_name)
  const place = `[\`${function_name}\`](../src/db/migrations/${migration})`
  return `| \`${name}\` | \`${table_name}\` | ${ownerOfTable(table_name)} | ${momentOf(trigger)} | ${place} | ${comment} |`
}

const tableText = (triggers: readonly TriggerRow[]): string =>
  [
    '| Trigger | Table | Module of the table | When | Function | Why |',
    '|---|---|---|---|---|---|',
    ...triggers.map(rowText),
    '',
  ].join('\n')

/** Text of docs/triggers.md. */
export function triggersText(triggers: readonly TriggerRow[]): string {
  const superseded = triggers.filter(isSuperseded)
  const parts = [introduction, tableText(triggers.filter((trigger) => !isSuperseded(trigger)))]
  if (superseded.length > 0) parts.push(supersededIntroduction, tableText(superseded))
  return parts.join('\n')
}
