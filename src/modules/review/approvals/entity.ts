import { Type } from 'typebox'
import { mergeRequestPolicy } from '../../../access/merge-request-policy.ts'
import { allows, type Facts } from '../../../access/policy.ts'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import type { ApprovalsRow } from './queries.ts'

const person = Type.Object({ user: UserReferenceSchema })

/** Who approved a merge request, and how many still must. */
export const Approvals = entity({
  name: 'Approvals',
  schema: Type.Object({
    id: Type.Integer(),
    iid: Type.Integer(),
    project_id: Type.Integer(),
    title: Type.String(),
    description: nullable(Type.String()),
    state: Type.String(),
    created_at: timestamp(),
    updated_at: timestamp(),
    merge_status: Type.String(),
    approved: Type.Boolean({ description: 'True if it has enough approvals' }),
    approvals_required: Type.Integer(),
    approvals_left: Type.Integer(),
    approved_by: Type.Array(person),
    approvers: Type.Array(person, { description: 'Users asked to approve' }),
    suggested_approvers: Type.Array(UserReferenceSchema, { description: 'Designated approvers who have not approved' }),
    user_has_approved: Type.Boolean(),
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
