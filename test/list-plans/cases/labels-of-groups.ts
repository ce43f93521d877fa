import { expect, test } from 'vitest'
import { pageStatement } from '../../../src/api/page-queries.ts'
import { and, sql } from '../../../src/db/sql.ts'
import type { ProjectOrGroupHolder } from '../../../src/modules/groups/holders/holder.ts'
import { labelsOf } from '../../../src/modules/planning/labels/queries.ts'
import { callers } from '../callers.ts'
import { largestGroup, plainTotal } from '../expected.ts'
import { planWithPages } from '../explain.ts'
import { pagesOf } from '../plan.ts'
import { client } from '../seeded.ts'

export function labelsOfGroups(): void {
  test.each(callers)(
    'labels of a group with many projects count issues and merge requests for %s without looking each up',
    async (_, caller) => {
      const group = await largestGroup()
      const place = { holder: { of: 'group', id: group } as ProjectOrGroupHolder, caller }
      const list = labelsOf(place, { ancestors: false, counts: true, search: undefined })
      const statement = pageStatement(list, and(list.where), 20, 0)
      const { rows: counted } = await client.query(statement.text, [...statement.values])
      const { rows: sizes } = await client.query(
        `select count(*) as projects,
          (select count(*) from labels l join issue_labels ml on ml.label_id = l.id where l.namespace_id = $1)
            + (select count(*) from labels l join merge_request_labels ml on ml.label_id = l.id where l.namespace_id = $1) as entries
        from projects p join namespaces n on n.id = p.namespace_id
        where n.traversal_ids[1] = $1`,
        [group],
      )
      const [projects, entries] = [Number(sizes[0].projects), Number(sizes[0].entries)]
      expect(entries).toBeGreaterThan(4 * projects)
      // Of each project some pages of two indexes, and the projects that the caller may see.
      expect(pagesOf(await planWithPages(statement))).toBeLessThan(14 * projects + entries + 2_000)
      const ofLabel = (id: string, state: string) => sql`
        m.state = ${state} and exists (select from issue_labels ml where ml.issue_id = m.id and ml.label_id = ${id})
      `
      // Unlike real labels of a group, these are on issues of all projects.
      const isElsewhere = (name: string) => name === 'common' || name === 'rare'
      for (const { id, open_issues, closed_issues } of counted.filter(({ name }) => !isElsewhere(name))) {
        const numberOf = async (state: string) => String(await plainTotal('Issue', caller, ofLabel(id, state)))
        expect([open_issues, closed_issues]).toEqual([await numberOf('opened'), await numberOf('closed')])
      }
      expect(counted.some(({ open_issues }) => Number(open_issues) > 0)).toBe(caller !== null)
    },
  )
}
