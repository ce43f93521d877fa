import { expect, test } from 'vitest'
import { pageStatement } from '../../../src/api/page-queries.ts'
import type { Db, Statement } from '../../../src/db/db.ts'
import type { Shape } from '../../../src/db/row.ts'
import { and } from '../../../src/db/sql.ts'
import { countEverything } from '../../../src/modules/instance/statistics/queries.ts'
import { namespacesOf } from '../../../src/modules/namespaces/namespaces/queries.ts'
import { administrator } from '../callers.ts'
import { plannedOnly, readsForValues } from '../explain.ts'
import { tableNamesOf } from '../plan.ts'
import { client } from '../seeded.ts'

export function statisticsOfTheInstallation(): void {
  test('statistics of the installation read neither issues nor comments', async () => {
    const statements: Statement[] = []
    const row = async (_: Shape, statement: Statement) => void statements.push(statement)
    await countEverything({ row } as unknown as Db).catch(() => {})
    const tables = tableNamesOf(await plannedOnly(statements[0]!))
    expect(tables).toContain('comment_counts')
    for (const table of ['issues', 'notes']) expect(tables).not.toContain(table)
  })
}

export function latePageOfNamespaces(): void {
  test('a late page of namespaces counts the members of its own groups only', async () => {
    const list = namespacesOf(administrator, { owned_only: false })
    const { rows } = await client.query('select count(*) from namespaces where not deleting')
    const skipped = Number(rows[0].count) - 20
    const statement = pageStatement(list, and(list.where), 20, skipped)
    // Groups are the last. Those that are skipped are read, but not what they show.
    expect(await readsForValues(statement)).toBeLessThan(2 * skipped + 20 * 100)
  })
}
