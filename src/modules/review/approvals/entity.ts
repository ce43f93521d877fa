import { Type } from 'typebox'
import { mergeRequestPolicy } from '../../../access/merge-request-policy.ts'
import { allows, type Facts } from '../../../access/policy.ts'
import { entity } from '../../../api/entity.ts'
import { described, nullable, timestamp } from '../../../api/schema.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import type { ApprovalStateRow } from '../approval-rules/entity.ts'
import { ruleTypes } from '../approval-rules/queries.ts'
import { mergeRequestStates, mergeStatuses } from '../merge-requests/states.ts'
import type { ApprovalsRow } from './queries.ts'

const person = Type.Object(
  { user: described(UserReferenceSchema, 'User who approved, or who is asked to approve') },
  { title: 'Approver' },
)

const rule = Type.Object(
  {
    id: Type.Integer({ description: 'ID of the rule' }),
    name: Type.String({ description: 'Name of the rule' }),
    rule_type: Type.String({ enum: [...ruleTypes], description: 'Whose approvals count for the rule' }),
  },
  { title: 'ApprovalRuleReference' },
)

/** What the record of approvals shows. */
type ApprovalsShown = {
  readonly approvals: ApprovalsRow
  readonly state: ApprovalStateRow
  readonly facts: Facts
}

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
    suggested_approvers: Type.Array(UserReferenceSchema, {
      description: 'Designated approvers, and users named by rules with missing approvals, who have not approved',
    }),
    approval_rules_left: Type.Array(rule, { description: 'Rules that miss approvals' }),
    has_approval_rules: Type.Boolean({ description: 'Rules apply to the merge request' }),
    require_password_to_approve: Type.Boolean({ description: "An approval requires the user's password" }),
    multiple_approval_rules_available: Type.Boolean({ description: 'Always true: there can be several rules' }),
    merge_request_approvers_available: Type.Boolean({ description: 'Always true: rules can name users and groups' }),
    user_has_approved: Type.Boolean({ description: 'True if the caller approved' }),
    user_can_approve: Type.Boolean({ description: 'The caller may approve and has not done so' }),
  }),
  present({ approvals, state: { rules }, facts }: ApprovalsShown, ctx) {
    const { required, left, approved: isApproved, needs_password, approved_by, approvers, ...mergeRequest } = approvals
    const approved = new Set(approved_by.map(({ id }) => id))
    const rulesLeft = rules.filter((each) => each.approved_by.length < each.approvals_required)
    const asked = [...approvers, ...rulesLeft.flatMap(({ eligible }) => eligible)]
    const suggested = new Map(asked.filter(({ id }) => !approved.has(id)).map((user) => [user.id, user]))
    const hasApproved = ctx.actor !== null && approved.has(ctx.actor.id)
    return {
      ...mergeRequest,
      approved: isApproved,
      approvals_required: required,
      approvals_left: left,
      approved_by: approved_by.map((user) => ({ user: userReference(user, ctx) })),
      approvers: approvers.map((user) => ({ user: userReference(user, ctx) })),
      suggested_approvers: [...suggested.values()].map((user) => userReference(user, ctx)),
      approval_rules_left: rulesLeft.map(({ id, name, rule_type }) => ({ id, name, rule_type: rule_type as string })),
      has_approval_rules: rules.length > 0,
      require_password_to_approve: needs_password,
      multiple_approval_rules_available: true,
      merge_request_approvers_available: true,
      user_has_approved: hasApproved,
      user_can_approve:
        !hasApproved && approvals.state === 'opened' && allows(mergeRequestPolicy.approve, ctx.actor, facts),
    }
  },
})
