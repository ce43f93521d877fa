import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Filled, Flag, Id, List, OneOf, Optional, Params, Text, Whole } from '../../../api/params/types.ts'
import { group } from '../../groups/index.ts'
import { project } from '../../projects/index.ts'
import { mergeRequest } from '../merge-requests/subject.ts'
import { setApprovers } from './approvers.ts'
import { ApprovalConfiguration, ApprovalRule, ApprovalState, MergeRequestApprovalRule } from './entity.ts'
import { maxRequired, ruleRow, rulesOf, ruleTypes } from './queries.ts'
import { createRule, editRule, getRule, ofGroup, ofMergeRequest, ofProject, removeRule } from './service.ts'
import { changeApprovalSettings, getApprovalConfiguration } from './settings.ts'
import { getApprovalState } from './state.ts'

const tier = 'starter'
const ofGroups = '/groups/:id'
const ofProjects = '/projects/:id'
const ofMergeRequests = '/projects/:id/merge_requests/:merge_request_iid'

const approval_rule_id = Id({ description: 'ID of the rule' })
const name = Filled({ description: 'Name, unique within the group, project or merge request; at most 255 characters' })
const approvals_required = Whole({
  minimum: 0,
  maximum: maxRequired,
  description: 'Number of approvals that the rule requires',
})
const rule_type = Optional(
  OneOf(ruleTypes, {
    description:
      '`any_approver`: all approvals count, at most one such rule; `regular` (default): those of users it names',
  }),
)
const maxItems = 100
const people = {
  user_ids: Optional(
    List(Id(), { maxItems, description: 'Users to name by ID, without those who may not read the merge requests' }),
  ),
  usernames: Optional(List(Text(), { maxItems, description: 'Users to name by user name, besides `user_ids`' })),
  group_ids: Optional(
    List(Id(), {
      maxItems,
      description: 'Groups whose members count at the time of use, without those that the caller cannot see',
    }),
  ),
}
const peopleOfGroups = {
  ...people,
  user_ids: Optional(
    List(Id(), { maxItems, description: 'Users to name by ID; they approve where they may read merge requests' }),
  ),
}
const branches = {
  protected_branch_ids: Optional(
    List(Id(), { maxItems, description: 'IDs of the protected branches as targets to which the rule is limited' }),
  ),
  applies_to_all_protected_branches: Optional(
    Flag({ description: 'Apply to every protected branch as a target, and to no other' }),
  ),
}
const change = { name: Optional(name), approvals_required: Optional(approvals_required), ...people }

const before = Optional(
  Whole({ minimum: 0, description: 'Number of approvals that a merge requires from any approver' }),
)
const settings = {
  approvals_before_merge: before,
  reset_approvals_on_push: Optional(Flag({ description: 'A push to the source branch revokes all approvals' })),
  selective_code_owner_removals: Optional(
    Flag({ description: 'Not supported: 400 for true, because approvals of code owners are like others' }),
  ),
  disable_overriding_approvers_per_merge_request: Optional(
    Flag({
      description: 'Merge requests cannot have rules and required numbers of their own; existing ones are ignored',
    }),
  ),
  merge_requests_author_approval: Optional(Flag({ description: 'Authors may approve their merge requests' })),
  merge_requests_disable_committers_approval: Optional(
    Flag({
      description: 'Users who committed to a merge request may not approve it, and their approvals do not count',
    }),
  ),
  require_password_to_approve: Optional(Flag({ description: 'An approval requires the password of the user' })),
}

const projectRoutes = [
  endpoint({
    method: 'GET',
    path: `${ofProjects}/approvals`,
    summary: 'Get approval settings of a project',
    tier,
    subject: project,
    allow: 'read_merge_request',
    returns: ApprovalConfiguration,
    handle: ({ subject, ctx }) => getApprovalConfiguration(ctx, subject.id),
  }),

  endpoint({
    method: 'POST',
    path: `${ofProjects}/approvals`,
    summary: 'Update approval settings of a project',
    tier,
    subject: project,
    allow: 'admin_project',
    params: Params(settings, { atLeastOneOf: Object.keys(settings) as (keyof typeof settings)[] }),
    returns: ApprovalConfiguration,
    async handle({ subject, params, ctx }) {
      await changeApprovalSettings(ctx, subject, params)
      return getApprovalConfiguration(ctx, subject.id)
    },
  }),

  endpoint({
    method: 'PUT',
    path: `${ofProjects}/approvers`,
    summary: 'Set approvers of a project',
    description:
      'Compat: clients from before approval rules. The users and groups become those of the rule `Default`, which requires no approvals of its own, but whose users may approve.',
    tier,
    subject: project,
    allow: 'admin_project',
    params: Params(
      { approver_ids: people.user_ids, approver_group_ids: people.group_ids },
      {
        atLeastOneOf: ['approver_ids', 'approver_group_ids'],
      },
    ),
    returns: ApprovalConfiguration,
    async handle({ subject, params, ctx }) {
      await setApprovers(ctx, subject, params)
      return getApprovalConfiguration(ctx, subject.id)
    },
  }),

  endpoint({
    method: 'GET',
    path: `${ofProjects}/approval_rules`,
    summary: 'List approval rules of a project',
    description: 'Oldest first.',
    tier,
    subject: project,
    allow: 'read_merge_request',
    paged: true,
    returns: ApprovalRule,
    handle: ({ subject, page, ctx }) =>
      fetchPage(ctx.db, ruleRow, rulesOf({ of: 'project', id: subject.id }, ctx.actor), page),
  }),

  endpoint({
    method: 'GET',
    path: `${ofProjects}/approval_rules/:approval_rule_id`,
    summary: 'Get a project approval rule',
    tier,
    subject: project,
    allow: 'read_merge_request',
    params: Params({ approval_rule_id }),
    returns: ApprovalRule,
    handle: ({ subject, params, ctx }) => getRule(ctx, { of: 'project', id: subject.id }, params.approval_rule_id),
  }),

  endpoint({
    method: 'POST',
    path: `${ofProjects}/approval_rules`,
    summary: 'Create a project approval rule',
    description: 'Merges into the branches of the rule wait until it has its approvals. At most 100 rules.',
    tier,
    subject: project,
    allow: 'admin_project',
    params: Params({ name, approvals_required, rule_type, ...people, ...branches }),
    returns: ApprovalRule,
    handle: ({ subject, params, ctx }) => createRule(ctx, ofProject(subject), params),
  }),

  endpoint({
    method: 'PUT',
    path: `${ofProjects}/approval_rules/:approval_rule_id`,
    summary: 'Update a project approval rule',
    tier,
    subject: project,
    allow: 'admin_project',
    params: Params({ approval_rule_id, ...change, ...branches }),
    returns: ApprovalRule,
    handle: ({ subject, params: { approval_rule_id: id, ...input }, ctx }) =>
      editRule(ctx, ofProject(subject), id, input),
  }),

  endpoint({
    method: 'DELETE',
    path: `${ofProjects}/approval_rules/:approval_rule_id`,
    summary: 'Delete a project approval rule',
    description: 'Also deletes the rules of merge requests that replace it.',
    tier,
    subject: project,
    allow: 'admin_project',
    params: Params({ approval_rule_id }),
    returns: null,
    handle: ({ subject, params, ctx }) => removeRule(ctx, ofProject(subject), params.approval_rule_id),
  }),
]

const groupRoutes = [
  endpoint({
    method: 'GET',
    path: `${ofGroups}/approval_rules`,
    summary: 'List approval rules of a group',
    description: 'Oldest first.',
    tier,
    subject: group,
    allow: 'admin_group',
    paged: true,
    returns: ApprovalRule,
    handle: ({ subject, page, ctx }) =>
      fetchPage(ctx.db, ruleRow, rulesOf({ of: 'group', id: subject.id }, ctx.actor), page),
  }),

  endpoint({
    method: 'GET',
    path: `${ofGroups}/approval_rules/:approval_rule_id`,
    summary: 'Get a group approval rule',
    tier,
    subject: group,
    allow: 'admin_group',
    params: Params({ approval_rule_id }),
    returns: ApprovalRule,
    handle: ({ subject, params, ctx }) => getRule(ctx, { of: 'group', id: subject.id }, params.approval_rule_id),
  }),

  endpoint({
    method: 'POST',
    path: `${ofGroups}/approval_rules`,
    summary: 'Create a group approval rule',
    description:
      'Merges into protected branches of all projects below the group wait until the rule has its approvals. Projects and merge requests cannot replace it. At most 100 rules.',
    tier,
    subject: group,
    allow: 'admin_group',
    params: Params({ name, approvals_required, rule_type, ...peopleOfGroups }),
    returns: ApprovalRule,
    handle: ({ subject, params, ctx }) => createRule(ctx, ofGroup(subject), params),
  }),

  endpoint({
    method: 'PUT',
    path: `${ofGroups}/approval_rules/:approval_rule_id`,
    summary: 'Update a group approval rule',
    tier,
    subject: group,
    allow: 'admin_group',
    params: Params({
      approval_rule_id,
      name: Optional(name),
      approvals_required: Optional(approvals_required),
      ...peopleOfGroups,
    }),
    returns: ApprovalRule,
    handle: ({ subject, params: { approval_rule_id: id, ...input }, ctx }) =>
      editRule(ctx, ofGroup(subject), id, input),
  }),

  endpoint({
    method: 'DELETE',
    path: `${ofGroups}/approval_rules/:approval_rule_id`,
    summary: 'Delete a group approval rule',
    tier,
    subject: group,
    allow: 'admin_group',
    params: Params({ approval_rule_id }),
    returns: null,
    handle: ({ subject, params, ctx }) => removeRule(ctx, ofGroup(subject), params.approval_rule_id),
  }),
]

const mergeRequestRoutes = [
  endpoint({
    method: 'GET',
    path: `${ofMergeRequests}/approval_state`,
    summary: 'Get merge request approval state',
    description: 'Shows the rules that apply, of the project and of the merge request, and which have their approvals.',
    tier,
    subject: mergeRequest,
    allow: 'read_merge_request',
    returns: ApprovalState,
    handle: ({ subject, ctx }) => getApprovalState(ctx, subject.id),
  }),

  endpoint({
    method: 'GET',
    path: `${ofMergeRequests}/approval_rules`,
    summary: 'List merge request approval rules',
    description: 'Only its own rules, oldest first; `approval_state` also shows those of the project.',
    tier,
    subject: mergeRequest,
    allow: 'read_merge_request',
    paged: true,
    returns: MergeRequestApprovalRule,
    handle: ({ subject, page, ctx }) =>
      fetchPage(ctx.db, ruleRow, rulesOf({ of: 'merge_request', id: subject.id }, ctx.actor), page),
  }),

  endpoint({
    method: 'GET',
    path: `${ofMergeRequests}/approval_rules/:approval_rule_id`,
    summary: 'Get a merge request approval rule',
    tier,
    subject: mergeRequest,
    allow: 'read_merge_request',
    params: Params({ approval_rule_id }),
    returns: MergeRequestApprovalRule,
    handle: ({ subject, params, ctx }) =>
      getRule(ctx, { of: 'merge_request', id: subject.id }, params.approval_rule_id),
  }),

  endpoint({
    method: 'POST',
    path: `${ofMergeRequests}/approval_rules`,
    summary: 'Create a merge request approval rule',
    description:
      'The rule applies besides those of the project, or replaces one of them, of which it requires at least the number of approvals. Only developers replace rules, and name others than developers. At most 100 rules.',
    tier,
    subject: mergeRequest,
    allow: 'update_merge_request',
    params: Params({
      name,
      approvals_required,
      rule_type,
      approval_project_rule_id: Optional(
        Id({ description: 'Rule of the project to replace; its users and groups are copied if they are not given' }),
      ),
      ...people,
    }),
    returns: MergeRequestApprovalRule,
    handle: async ({ subject, params, ctx }) => createRule(ctx, await ofMergeRequest(ctx, subject), params),
  }),

  endpoint({
    method: 'PUT',
    path: `${ofMergeRequests}/approval_rules/:approval_rule_id`,
    summary: 'Update a merge request approval rule',
    tier,
    subject: mergeRequest,
    allow: 'update_merge_request',
    params: Params({ approval_rule_id, ...change }),
    returns: MergeRequestApprovalRule,
    handle: async ({ subject, params: { approval_rule_id: id, ...input }, ctx }) =>
      editRule(ctx, await ofMergeRequest(ctx, subject), id, input),
  }),

  endpoint({
    method: 'DELETE',
    path: `${ofMergeRequests}/approval_rules/:approval_rule_id`,
    summary: 'Delete a merge request approval rule',
    description: 'The rule of the project that it replaced applies again.',
    tier,
    subject: mergeRequest,
    allow: 'update_merge_request',
    params: Params({ approval_rule_id }),
    returns: null,
    handle: async ({ subject, params, ctx }) =>
      removeRule(ctx, await ofMergeRequest(ctx, subject), params.approval_rule_id),
  }),
]

export const approvalRuleRoutes = [...groupRoutes, ...projectRoutes, ...mergeRequestRoutes]
