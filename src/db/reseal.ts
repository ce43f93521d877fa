import { textColumns } from './columns.ts'
import type { Tx } from './db.ts'
import { boolean, integer, notNull, text } from './row.ts'
import { isSealed } from './sealed.ts'
import { quoted } from './snapshot.ts'
import { join, raw, type Sql, sql } from './sql.ts'

/** A column of encrypted texts, by the numeric key of its table. The names are written into statements. */
type SealedColumn = { readonly table: string; readonly id: string; readonly column: string }

const batchSize = 500

/** Replaces each value that is not null by the result of `reseal`, in batches. Returns the number of replaced values. */
export async function resealRows(
  tx: Tx,
  { table, id, column }: SealedColumn,
  reseal: (sealed: string, id: number) => string | Promise<string>,
): Promise<number> {
  // Starts look for lost keys in such columns.
  if (!isSealed(table, column)) throw new Error(`the name of ${table}.${column} does not say that it is encrypted`)
  let replaced = 0
  for (let after = 0; ; ) {
    const batch = await tx.rows(
      { id: integer, sealed: notNull(text) },
      sql`
        select ${raw(id)} as id, ${raw(column)} as sealed
        from ${raw(table)}
        where ${raw(column)} is not null and ${raw(id)} > ${after}
        order by 1
        limit ${raw(String(batchSize))}
        for update
      `,
    )
    const next = await Promise.all(
      batch.map(async (row) => ({ id: row.id, sealed: await reseal(row.sealed, row.id), before: row.sealed })),
    )
    const changed = next.filter(({ sealed, before }) => sealed !== before)
    if (changed.length > 0)
      await tx.run(sql`
        update ${raw(table)} as t
        set ${raw(column)} = n.sealed
        from unnest(${changed.map((each) => each.id)}::bigint[], ${changed.map((each) => each.sealed)}::text[]) as n (
          id, sealed
        )
        where ${raw(`t.${id}`)} = n.id
      `)
    replaced += changed.length
    if (batch.length < batchSize) return replaced
    after = batch.at(-1)!.id
  }
}

/**
 * The columns of our tables in which a value contains one of the texts, as `table.column`. Reads all rows with texts, which
 * may take minutes.
 */
export async function columnsContaining(tx: Tx, texts: readonly string[]): Promise<string[]> {
  if (texts.length === 0) return []
  await tx.allowLongStatements()
  const found: string[] = []
  for (const { table, column } of await textColumns(tx))
    if (await containsAny(tx, raw(quoted(table)), raw(quoted(column)), texts)) found.push(`${table}.${column}`)
  return found
}

async function containsAny(tx: Tx, table: Sql, column: Sql, texts: readonly string[]): Promise<boolean> {
  const conditions = texts.map((each) => sql`position(${each}::text in ${column}::text) > 0`)
  const row = await tx.row(
    { found: boolean },
    sql`select exists (select from ${table} where ${join(conditions, ' or ')}) as found`,
  )
  return row!.found
}
