import type { Ctx } from '../../../api/ctx.ts'
import { endpoint } from '../../../api/endpoint.ts'
import type { List } from '../../../api/list.ts'
import { fetchPage, type Page, type Paged } from '../../../api/page.ts'
import { Issue, type IssueSubject, issue, issueRecordRow } from '../../planning/index.ts'
import { findClosingIssueIds } from '../closing/close.ts'
import { MergeRequest, type MergeRequestShown } from '../merge-requests/entity.ts'
import { mergeRequestRecordRow } from '../merge-requests/record-queries.ts'
import { mergeRequest } from '../merge-requests/subject.ts'
import { issuesAmong, issuesClosedBy, mergeRequestsClosing, mergeRequestsRelatedTo } from './closing-queries.ts'
import { checkUnchecked } from './list.ts'

const within = ({ id, full_path }: { readonly id: number; readonly full_path: string }) =>
  ({ of: 'project', id, full_path }) as const

/** A page of merge requests, as the project of an issue refers to them. */
async function pageAround(
  ctx: Ctx,
  { project }: IssueSubject,
  list: List,
  page: Page,
): Promise<Paged<MergeRequestShown>> {
  const found = await fetchPage(ctx.db, mergeRequestRecordRow, list, page)
  await checkUnchecked(ctx, found.rows)
  return { ...found, rows: found.rows.map((row) => ({ mergeRequest: row, within: within(project) })) }
}

/** Listed with merge requests. */
export const closedIssueRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/merge_requests/:merge_request_iid/closes_issues',
    summary: 'List issues that close on merge',
    description:
      'Returns the issues that the description or a commit of the merge request names after a word such as `closes`, and that the caller may read, oldest first. Empty unless the target is the default branch of the project and `autoclose_referenced_issues` is on.',
    subject: mergeRequest,
    allow: 'read_merge_request',
    paged: true,
    returns: Issue,
    async handle({ subject, page, ctx }) {
      const current = await findClosingIssueIds(ctx, subject.id)
      const list = current ? issuesAmong(ctx.actor, current) : issuesClosedBy(ctx.actor, subject.id)
      const found = await fetchPage(ctx.db, issueRecordRow, list, page)
      return { ...found, rows: found.rows.map((row) => ({ issue: row, within: within(subject.project) })) }
    },
  }),
]

/** Listed with issues. */
export const closingMergeRequestRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/issues/:issue_iid/closed_by',
    summary: 'List merge requests closing an issue',
    description: 'Returns merge requests of any state and project that close the issue when merged, oldest first.',
    subject: issue,
    allow: 'read_issue',
    paged: true,
    returns: MergeRequest,
    handle: ({ subject, page, ctx }) => pageAround(ctx, subject, mergeRequestsClosing(ctx.actor, subject.id), page),
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/issues/:issue_iid/related_merge_requests',
    summary: 'List merge requests of an issue',
    description:
      'Returns merge requests of any state and project that mention the issue, that the issue mentions, or that close it, oldest first.',
    subject: issue,
    allow: 'read_issue',
    paged: true,
    returns: MergeRequest,
    handle: ({ subject, page, ctx }) => pageAround(ctx, subject, mergeRequestsRelatedTo(ctx.actor, subject.id), page),
  }),
]
