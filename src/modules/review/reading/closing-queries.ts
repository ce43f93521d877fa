import type { Caller } from '../../../access/actor.ts'
import type { List } from '../../../api/list.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { type PlannedType, readableRow } from '../../discussion/index.ts'
import { closesIssues, closingReadable, issueSelect } from '../../planning/index.ts'
import { visibleProjects } from '../../projects/index.ts'
import { recordSelect } from '../merge-requests/record-queries.ts'

/** Noteables `m` of the projects `p`, of those that the caller may read, by id. */
const readable = (caller: Caller, type: PlannedType): Pick<List, 'type' | 'key' | 'order' | 'where' | 'cached'> => ({
  type,
  cached: true,
  key: raw('m.id'),
  where: [raw('not p.deleting'), visibleProjects(caller), readableRow(type, caller)],
  order: [{ by: raw('m.id'), direction: 'asc' }],
})

const issues = (caller: Caller, ids: Sql): List => {
  const list = readable(caller, 'Issue')
  return {
    ...list,
    select: issueSelect(caller),
    from: raw('from issues m join projects p on p.id = m.project_id'),
    where: [sql`m.id = any(${ids})`, ...list.where],
  }
}

/** These issues. */
export const issuesAmong = (caller: Caller, ids: readonly number[]): List => issues(caller, sql`${ids}::bigint[]`)

/** The issues that a merge request closes, as stored. */
export const issuesClosedBy = (caller: Caller, mergeRequestId: number): List =>
  issues(caller, sql`array(select c.issue_id ${closingReadable(caller)} and c.merge_request_id = ${mergeRequestId})`)

const mergeRequests = (caller: Caller, ids: Sql): List => {
  const list = readable(caller, 'MergeRequest')
  return {
    ...list,
    select: recordSelect(caller),
    from: raw('from merge_requests m join projects p on p.id = m.project_id'),
    where: [sql`m.id = any(array(${ids}))`, ...list.where],
  }
}

const closing = (issueId: number): Sql =>
  sql`select c.merge_request_id from merge_requests_closing_issues c where c.issue_id = ${issueId}`

/** The merge requests that close an issue. */
export const mergeRequestsClosing = (caller: Caller, issueId: number): List => {
  const list = mergeRequests(caller, closing(issueId))
  return { ...list, where: [...list.where, closesIssues] }
}

/** The merge requests that mention an issue, that it mentions, or that close it. */
export const mergeRequestsRelatedTo = (caller: Caller, issueId: number): List =>
  mergeRequests(
    caller,
    sql`
      select n.source_merge_request_id
      from notes n
      where n.issue_id = ${issueId} and n.source_merge_request_id is not null
      union
      select n.merge_request_id
      from notes n
      where n.source_issue_id = ${issueId} and n.merge_request_id is not null
      union
      ${closing(issueId)}
    `,
  )
