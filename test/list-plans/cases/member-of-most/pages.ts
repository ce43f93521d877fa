import { expect, test } from 'vitest'
import { and, raw, sql } from '../../../../src/db/sql.ts'
import { assigneesTableOf, columnOf, tableOf } from '../../../../src/modules/discussion/noteables/queries.ts'
import { listIssues } from '../../../../src/modules/planning/issue-lists/queries.ts'
import { signedIn } from '../../callers.ts'
import { expectPages, hasLabel, plainPage, plainTotal } from '../../expected.ts'
import { type NoteableType, newest, noteableKinds } from '../../lists.ts'
import { idsOf, readsOfPage, searchedPage } from '../../pages.ts'
import { client } from '../../seeded.ts'
import { member } from './member.ts'

const closedWithout = (type: NoteableType): string =>
  `m.state = 'closed' and not exists (select from ${assigneesTableOf(type).text} a where a.${columnOf(type).text} = m.id)`

const namedKinds = noteableKinds.map(([table, type, list]) => [table.replace('_', ' '), type, list] as const)

export function pagesOfMember(): void {
  test.each(
    namedKinds.flatMap(([name, type, list]) =>
      (['created_at', 'updated_at'] as const).flatMap((by) =>
        (['asc', 'desc'] as const).map((sort) => [`${name} by ${by} ${sort}`, type, list, by, sort] as const),
      ),
    ),
  )('gets %s, the first without reading all of them', async (_, type, list, by, sort) => {
    const listed = list(member, { of: 'everyone' }, {}, { by, sort })
    const all = await client.query<{ id: string }>(`
      select m.id from ${tableOf(type).text} m join projects p on p.id = m.project_id
        join group_access a on a.group_id = p.namespace_id and a.user_id = ${member.id}
      where not p.deleting`)
    expect(all.rows.length).toBeGreaterThan(5_000)
    if (type === 'Issue') expect(await readsOfPage(listed, 1)).toBeLessThan(all.rows.length / 2)
    for (const page of [1, 3, 40])
      expect(await idsOf(listed, page)).toEqual(await plainPage(type, member, `${by} ${sort}`, page))
  })

  test.each(
    namedKinds.flatMap(([name, type, list]) =>
      (
        [
          ['a number that one has', { iids: [987_654] }, 'm.iid = 987654'],
          ['a number that few have', { iids: [40, 41] }, 'm.iid in (40, 41)'],
          ['no assignee, closed', { assignee: 'None', state: 'closed' }, closedWithout(type)],
        ] as const
      ).map(([filter, filters, condition]) => [name, filter, type, list, filters, condition] as const),
    ),
  )(
    'gets %s with %s, and their number, without looking up each project',
    async (_, __, type, list, filters, condition) => {
      const { rows } = await client.query(
        'select count(*) from projects p join group_access a on a.group_id = p.namespace_id and a.user_id = $1',
        [member.id],
      )
      const { rows: sizes } = await client.query('select relpages from pg_class where relname = $1', [
        tableOf(type).text,
      ])
      const listed = list(member, { of: 'everyone' }, filters, newest)
      for (const page of [1, 3]) {
        const { ids, total, pages } = await searchedPage(listed, page)
        expect(ids).toEqual((await plainPage(type, member, 'created_at desc', page, raw(condition))).slice(0, 20))
        expect(total).toBe(await plainTotal(type, member, raw(condition)))
        if ('iids' in filters)
          // To look up a project and its noteables takes six pages.
          expect(await pages()).toBeLessThan(2 * (Number(rows[0].count) + 2 * sizes[0].relpages) + 2_000)
      }
    },
  )

  test.each(
    namedKinds.flatMap(([name, type, list]) =>
      (
        [
          ['label 3', undefined],
          ['label 9', 'opened'],
          ['rare', undefined],
        ] as const
      ).map(([label, state]) => [name, label, state, type, list] as const),
    ),
  )('gets %s with the label %s in state %s, and their number', async (_, label, state, type, list) => {
    const filter = and([hasLabel(type, label), ...(state ? [sql`m.state = ${state}`] : [])])
    const listed = list(member, { of: 'everyone' }, { labels: [label], ...(state && { state }) }, newest)
    await expectPages(listed, [1, 3], type, member, filter)
  })

  test.each(signedIn)(
    'has a label that is on more issues than are kept in a hash table; %s gets those that they may read',
    async (_, caller) => {
      for (const reader of [member, caller])
        for (const state of [undefined, 'opened'] as const) {
          const filter = and([hasLabel('Issue', 'common'), ...(state ? [sql`m.state = ${state}`] : [])])
          const listed = listIssues(reader, { of: 'everyone' }, { labels: ['common'], ...(state && { state }) }, newest)
          await expectPages(listed, [1, 4], 'Issue', reader, filter)
        }
    },
  )
}
