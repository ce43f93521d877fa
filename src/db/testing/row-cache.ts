import type { Statement } from '../db.ts'
import { Reader } from '../reader.ts'
import { integer } from '../row.ts'
import { SnapshotCache } from '../snapshot-cache.ts'
import { sql } from '../sql.ts'
import { type CatalogueRow, readCatalogue, TableCatalogue } from '../table-catalogue.ts'

export const tableCatalogue = async ({ databaseUrl }: { readonly databaseUrl: string }): Promise<TableCatalogue> => {
  await using reader = new Reader(databaseUrl, { connections: 1, planning: 'auto' }, { answerTimeoutMs: 10_000 })
  return new TableCatalogue((await reader.query({ text: readCatalogue, values: [] })).rows as CatalogueRow[])
}

/** A row cache with its own connections, which has read something, and the statements it has sent since. During an `outage` none is sent. */
export async function rowCache({ databaseUrl }: { readonly databaseUrl: string }) {
  const reader = new Reader(databaseUrl, { connections: 2, planning: 'auto' }, { answerTimeoutMs: 10_000 })
  const sent: string[] = []
  const outage = { isOver: true }
  const snapshotCache = new SnapshotCache({
    async query(statement: Statement) {
      if (!outage.isOver) throw new Error('no connection')
      sent.push(statement.text)
      return reader.query(statement)
    },
    get sent() {
      return reader.sent
    },
  })
  await snapshotCache.row({ one: integer }, sql`select 1 as one`)
  sent.length = 0
  return { snapshotCache, sent, outage, [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose]() }
}
