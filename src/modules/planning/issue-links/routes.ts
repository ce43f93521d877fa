import { endpoint, listed } from '../../../api/endpoint.ts'
import { Id, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'
import { issue } from '../issues/subject.ts'
import { IssueLink, LinkedIssue } from './entity.ts'
import { linkTypes } from './queries.ts'
import { getLink, linkIssue, listLinks, unlinkIssue } from './service.ts'

const path = '/projects/:id/issues/:issue_iid/links'
const one = Params({ issue_link_id: Id({ description: 'ID of the link' }) })

export const issueLinkRoutes = [
  endpoint({
    method: 'GET',
    path,
    summary: 'List linked issues',
    description: 'Oldest link first. Issues that the caller cannot read are left out.',
    subject: issue,
    allow: 'read_issue',
    returns: listed(LinkedIssue),
    handle: ({ subject, ctx }) => listLinks(ctx, subject),
  }),

  endpoint({
    method: 'GET',
    path: `${path}/:issue_link_id`,
    summary: 'Get an issue link',
    subject: issue,
    allow: 'read_issue',
    params: one,
    returns: IssueLink,
    handle: ({ subject, params, ctx }) => getLink(ctx, subject, params.issue_link_id),
  }),

  endpoint({
    method: 'POST',
    path,
    summary: 'Create an issue link',
    description:
      'The caller must be allowed to administer both issues. 409 if they are linked already; 403 for blocking links on plans without them.',
    subject: issue,
    allow: 'admin_issue',
    params: Params({
      // Compat: glab sends null for an issue of the same project.
      target_project_id: Optional(
        Text({ description: 'ID or full path of the project of the other issue; default: that of the issue' }),
      ),
      target_issue_iid: Id({ description: 'Number of the other issue within its project' }),
      link_type: OneOf(linkTypes, {
        default: 'relates_to',
        description: 'What the issue is to the other one; `blocks` and `is_blocked_by` require the starter plan',
      }),
    }),
    returns: IssueLink,
    handle: ({ subject, params, ctx }) =>
      linkIssue(ctx, subject, {
        project: params.target_project_id ?? `${subject.project.id}`,
        iid: params.target_issue_iid,
        type: params.link_type,
      }),
  }),

  endpoint({
    method: 'DELETE',
    path: `${path}/:issue_link_id`,
    summary: 'Delete an issue link',
    description: 'Returns the deleted link. The caller must be allowed to administer both issues.',
    subject: issue,
    allow: 'admin_issue',
    params: one,
    returns: IssueLink,
    handle: ({ subject, params, ctx }) => unlinkIssue(ctx, subject, params.issue_link_id),
  }),
]
