import { describe, expect, test } from 'vitest'
import { groupId, projectId } from '../../../bench/world.ts'
import type { List } from '../../../src/api/list.ts'
import { pageStatement } from '../../../src/api/page-queries.ts'
import { and } from '../../../src/db/sql.ts'
import { tokenList } from '../../../src/modules/accounts/tokens/queries.ts'
import { boardsOf } from '../../../src/modules/planning/boards/queries.ts'
import { allDeployKeys } from '../../../src/modules/projects/deploy-keys/queries.ts'
import {
  deletedRepositoriesOf,
  repositoriesBelow,
  repositoriesOf,
} from '../../../src/modules/registry/images/queries.ts'
import { rulesOf } from '../../../src/modules/review/approval-rules/queries.ts'
import { administrator } from '../callers.ts'
import { planOf } from '../explain.ts'
import { runsOfSubqueries } from '../plan.ts'
import { client } from '../seeded.ts'

const project = { of: 'project', id: projectId(1) } as const

export function latePages(): void {
  describe('a page after others computes what its own rows show only, for', () => {
    const tags = { tags: true, tags_count: true }
    const lists: (readonly [string, List])[] = [
      ['images of a project', repositoriesOf(project.id, tags)],
      ['deleted images of a project', deletedRepositoriesOf(project.id, tags, 7)],
      ['images of a group', repositoriesBelow(administrator, groupId(1), tags)],
      ['boards', boardsOf(project)],
      ['deploy keys', allDeployKeys(false)],
      ['approval rules', rulesOf(project, administrator)],
      ['personal access tokens', tokenList(administrator, { search: 'limited' })],
    ]

    test.each(lists)('%s', async (_, list) => {
      const statement = pageStatement(list, and(list.where), 2, 5)
      await client.query('begin')
      try {
        await addShown()
        const plan = await planOf(statement)
        expect(plan['Actual Rows']).toBe(2)
        expect(runsOfSubqueries(plan)).toBe(2)
      } finally {
        await client.query('rollback')
      }
    })
  })
}

/** Seven of each. */
async function addShown(): Promise<void> {
  const each = 'from generate_series(1, 7) as number'
  const { id } = project
  await client.query(`insert into container_repositories (project_id, name) select ${id}, number ${each}`)
  await client.query(
    `insert into container_repositories (project_id, name, deleted_at) select ${id}, number, now() ${each}`,
  )
  await client.query(`insert into boards (project_id, name) select ${id}, number ${each}`)
  await client.query(
    `insert into ssh_keys (title, key, fingerprint, fingerprint_sha256) select number, number, number, number ${each}`,
  )
  await client.query(
    `insert into approval_rules (project_id, name, rule_type, approvals_required) select ${id}, number, 'regular', 1 ${each}`,
  )
  await client.query(`
    update access_tokens set name = 'limited', limited = true
    where id in (select id from access_tokens where kind = 'personal' order by id limit 7)`)
}
