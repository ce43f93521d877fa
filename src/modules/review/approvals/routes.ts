import type { Ctx } from '../../../api/ctx.ts'
import { endpoint, unchanged } from '../../../api/endpoint.ts'
import { Id, List, Optional, Params, Text, Whole } from '../../../api/params/types.ts'
import { accepted, Message } from '../../instance/index.ts'
import { getApprovalState } from '../approval-rules/state.ts'
import type { MergeRequestSubject } from '../merge-requests/subject.ts'
import { Approvals } from './entity.ts'
import { approve, askApprovers, getApprovals, requireApprovals, resetApprovals, unapprove } from './service.ts'
import { approvable } from './subject.ts'

const path = '/projects/:id/merge_requests/:merge_request_iid'

const shown = async (ctx: Ctx, mergeRequest: MergeRequestSubject) => ({
  approvals: await getApprovals(ctx, mergeRequest),
  state: await getApprovalState(ctx, mergeRequest.id),
  facts: mergeRequest.facts,
})

export const approvalRoutes = [
  endpoint({
    method: 'GET',
    path: `${path}/approvals`,
    summary: 'Get approvals of a merge request',
    description: 'Tells who approved and how many approvals are missing.',
    tier: 'starter',
    subject: approvable,
    allow: 'read_merge_request',
    returns: Approvals,
    handle: ({ subject, ctx }) => shown(ctx, subject),
  }),

  endpoint({
    method: 'POST',
    path: `${path}/approvals`,
    summary: 'Set required approvals',
    tier: 'starter',
    subject: approvable,
    allow: 'update_merge_request',
    params: Params({
      approvals_required: Whole({
        minimum: 0,
        description: 'Required approvals; at least the number that the target project requires',
      }),
    }),
    returns: Approvals,
    async handle({ subject, params, ctx }) {
      await requireApprovals(ctx, subject, params.approvals_required)
      return shown(ctx, subject)
    },
  }),

  endpoint({
    method: 'PUT',
    path: `${path}/approvers`,
    summary: 'Set approvers of a merge request',
    tier: 'starter',
    subject: approvable,
    allow: 'update_merge_request',
    params: Params({
      approver_ids: List(Id(), {
        maxItems: 100,
        description:
          'User IDs of the approvers; replaces the list, ignoring users who may not read the merge request. Authors from outside name developers only',
      }),
      approver_group_ids: Optional(
        List(Id(), {
          maxItems: 100,
          description: 'Group IDs: their current members are asked, too, without groups that the caller cannot see',
        }),
      ),
    }),
    returns: Approvals,
    async handle({ subject, params, ctx }) {
      await askApprovers(ctx, subject, params.approver_ids, params.approver_group_ids)
      return shown(ctx, subject)
    },
  }),

  endpoint({
    method: 'POST',
    path: `${path}/approve`,
    summary: 'Approve a merge request',
    tier: 'starter',
    subject: approvable,
    allow: 'approve',
    params: Params({
      sha: Optional(Text({ description: 'Head of the source branch; the call fails with 409 if it differs' })),
      approval_password: Optional(
        Text({
          description: "The caller's password; required if the project requires it to approve, otherwise ignored",
        }),
      ),
    }),
    unchanged: 'The caller has already approved',
    returns: Approvals,
    handle: async ({ subject, params, ctx }) =>
      (await approve(ctx, subject, { sha: params.sha, password: params.approval_password }))
        ? shown(ctx, subject)
        : unchanged,
  }),

  endpoint({
    method: 'POST',
    path: `${path}/unapprove`,
    summary: 'Revoke approval of a merge request',
    description: 'Answers 405 once the merge request is merged.',
    tier: 'starter',
    subject: approvable,
    allow: 'unapprove',
    returns: Approvals,
    async handle({ subject, ctx }) {
      await unapprove(ctx, subject)
      return shown(ctx, subject)
    },
  }),

  endpoint({
    method: 'PUT',
    path: `${path}/reset_approvals`,
    summary: 'Reset approvals of a merge request',
    description:
      'Revokes all approvals. Only for bots of projects and groups, with their access tokens; 401 for others. Answers 405 once the merge request is merged.',
    tier: 'starter',
    subject: approvable,
    allow: 'reset_approvals',
    status: 202,
    returns: Message,
    async handle({ subject, ctx }) {
      await resetApprovals(ctx, subject)
      return accepted
    },
  }),
]
