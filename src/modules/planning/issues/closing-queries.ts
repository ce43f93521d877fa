import type { Caller } from '../../../access/actor.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { readableRow } from '../../discussion/index.ts'
import { settingDefaults, visibleProjects } from '../../projects/index.ts'

/**
 * Condition on the merge request `m` into the project `p`: when it is merged, it closes the issues that it names. That depends on the
 * default branch and on the settings of the project at the time of reading.
 */
export const closesWhenMerged: Sql = sql`
  (
    m.target_branch = p.default_branch
    and coalesce(
      (p.settings ->> 'autoclose_referenced_issues')::boolean, ${settingDefaults.autoclose_referenced_issues}
    )
  )
`

/** The same, or it was merged and has done so. */
export const closesIssues: Sql = sql`(m.state = 'merged' or ${closesWhenMerged})`

/** Rows `c` of the issues that merge requests close, of those merge requests that the caller may read. */
export const closingReadable = (caller: Caller): Sql => sql`
  from merge_requests_closing_issues c
  where exists (
    select
    from merge_requests m join projects p on p.id = m.project_id
    where m.id = c.merge_request_id
      and not p.deleting
      and ${closesIssues}
      and ${visibleProjects(caller)}
      and ${readableRow('MergeRequest', caller)}
  )
`

/** How many merge requests close the issue `m`, of those that the caller may read. */
export const closingCount = (caller: Caller): Sql =>
  sql`(select count(*)::integer ${closingReadable(caller)} and c.issue_id = ${raw('m.id')})`

/** Projects of the merge requests that close the issue `m`, whether or not the caller may read them. */
export const closingProjects: Sql = sql`
  (
    select coalesce(json_agg(distinct r.project_id), '[]')
    from merge_requests_closing_issues c join merge_requests r on r.id = c.merge_request_id
    where c.issue_id = m.id
  )
`
