import { Type } from 'typebox'
import { mergeRequestPolicy } from '../../../access/merge-request-policy.ts'
import { allows, type Facts } from '../../../access/policy.ts'
import { entity } from '../../../api/entity.ts'
import { described, nullable, timestamp } from '../../../api/schema.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import { mergeRequestStates, mergeStatuses } from '../merge-requests/states.ts'
import type { ApprovalsRow } from './queries.ts'

const person = Type.Object(
  { user: described(UserReferenceSchema, 'User who approved, or who is asked to approve') },
  { title: 'Approver' },
)

/** The approvals of a merge request, and how many are still required. */
export const Approvals = entity({
  name: 'Approvals',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the merge request' }),
    iid: Type.Integer({ description: 'Number within the project' }),
    project_id: Type.Integer({ description: 'ID of the target project' }),
    title: Type.String({ description: 'Title of the merge request' }),
    description: nullable(Type.String(), { description: 'Description in Markdown; null if there is none' }),
    state: Type.String({ enum: [...mergeRequestStates], description: 'State; `locked` while a merge is in progress' }),
    created_at: timestamp('Time at which the merge request was created'),
    updated_at: timestamp('Time of the last change'),
    merge_status: Type.String({ enum: [...mergeStatuses], description: 'Whether it can be merged' }),
    approved: Type.Boolean({ description: 'True if it has enough approvals' }),
    approvals_required: Type.Integer({ description: 'Number of approvals that a merge requires' }),
    approvals_left: Type.Integer({ description: 'Number of approvals that are missing' }),
    approved_by: Type.Array(person, { description: 'Users who approved' }),
    approvers: Type.Array(person, { description: 'Users asked to approve' }),
    suggested_approvers: Type.Array(UserReferenceSchema, { description: 'Designated approvers who have not approved' }),
    user_has_approved: Type.Boolean({ description: 'True if the caller approved' }),
    user_can_approve: Type.Boolean({ description: 'The caller may approve and has not done so' }),
  }),
  present({ approvals, facts }: { readonly approvals: ApprovalsRow; readonly facts: Facts }, ctx) {
    const { required, approved_by, approvers, ...mergeRequest } = approvals
    const left = Math.max(0, required - approved_by.length)
    const approved = new Set(approved_by.map(({ id }) => id))
    const hasApproved = ctx.actor !== null && approved.has(ctx.actor.id)
    return {
      ...mergeRequest,
      approved: left === 0,
      approvals_required: required,
      approvals_left: left,
      approved_by: approved_by.map((user) => ({ user: userReference(user, ctx) })),
      approvers: approvers.map((user) => ({ user: userReference(user, ctx) })),
      suggested_approvers: approvers.filter(({ id }) => !approved.has(id)).map((user) => userReference(user, ctx)),
      user_has_approved: hasApproved,
      user_can_approve:
        !hasApproved && approvals.state === 'opened' && allows(mergeRequestPolicy.approve, ctx.actor, facts),
    }
  },
})
