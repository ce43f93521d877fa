import { expect } from 'vitest'
import type { Actor, Caller } from '../../src/access/actor.ts'
import type { List } from '../../src/api/list.ts'
import { countedRows } from '../../src/api/page.ts'
import type { Statement } from '../../src/db/db.ts'
import { raw, type Sql, sql } from '../../src/db/sql.ts'
import { columnOf, labelsTableOf, readableRow, tableOf } from '../../src/modules/discussion/noteables/queries.ts'
import { visibleProjects } from '../../src/modules/projects/projects/queries.ts'
import type { NoteableType } from './lists.ts'
import { searchedPage } from './pages.ts'
import { client } from './seeded.ts'

/** The ids of a page of noteables, by the condition of the caller's access in one part. */
export async function plainPage(type: NoteableType, caller: Actor, order: string, page: number, filter = raw('true')) {
  const { text, values } = sql`
    select m.id
    from ${tableOf(type)} m join projects p on p.id = m.project_id
    where not p.deleting and ${visibleProjects(caller)} and ${readableRow(type, caller)} and ${filter}
    order by ${raw(`m.${order}`)}, m.id desc
    limit 21
    offset ${(page - 1) * 20}
  `
  return (await client.query<{ id: string }>(text, values)).rows.map(({ id }) => id)
}

/** How many noteables `plainPage` has pages of. */
export async function plainTotal(type: NoteableType, caller: Caller, filter: Sql): Promise<number> {
  const { text, values } = sql`
    select count(*)
    from ${tableOf(type)} m join projects p on p.id = m.project_id
    where not p.deleting and ${visibleProjects(caller)} and ${readableRow(type, caller)} and ${filter}
  `
  return Number((await client.query(text, values)).rows[0].count)
}

/** Pages, newest first, and the total are those of the condition. */
export async function expectPages(
  list: List,
  pages: readonly number[],
  type: NoteableType,
  caller: Actor,
  filter: Sql,
) {
  const expected = await plainTotal(type, caller, filter)
  for (const page of pages) {
    const { ids, total } = await searchedPage(list, page)
    expect(ids).toEqual((await plainPage(type, caller, 'created_at desc', page, filter)).slice(0, 20))
    expect(total).toBe(expected > countedRows ? undefined : expected)
  }
}

export const idsFrom = async ({ text, values }: Statement): Promise<string[]> =>
  (await client.query<{ id: string }>(text, values)).rows.map(({ id }) => id)

/** The noteable `m` of this kind has a label of this title. */
export const hasLabel = (type: NoteableType, title: string): Sql => sql`
  exists (
    select from ${labelsTableOf(type)} ml join labels l on l.id = ml.label_id
    where ml.${columnOf(type)} = m.id and l.title = ${title}
  )
`

/** The id of the group with the most projects, those of groups below it included. */
export async function largestGroup(): Promise<number> {
  const { rows } = await client.query<{ id: string }>(`
    select n.traversal_ids[1] as id from projects p join namespaces n on n.id = p.namespace_id
    where n.kind = 'group' group by 1 order by count(*) desc limit 1`)
  return Number(rows[0]!.id)
}
