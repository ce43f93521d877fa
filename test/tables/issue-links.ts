import type { World } from '../world.ts'
import { remove } from './statements.ts'

/** Deletes the row itself, with what refers to it. */
export const deleteIssue = (world: World, id: number) => remove(world, 'issues', { id })

export const unassignIssue = (world: World, issue_id: number, user_id: number) =>
  remove(world, 'issue_assignees', { issue_id, user_id })

/** Creates issues of a project that block another one. */
export const addBlockingIssues = (world: World, projectId: number, blocked: number, count: number) =>
  world.rows(
    `with made as (
      insert into issues (iid, project_id, title, author_id)
      select 1000 + n, $1, 'x', 1 from generate_series(1, $3::integer) n returning id
    )
    insert into issue_links (source_id, target_id, link_type) select id, $2, 'blocks' from made`,
    [projectId, blocked, count],
  )
