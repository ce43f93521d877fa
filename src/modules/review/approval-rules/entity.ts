import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { entity } from '../../../api/entity.ts'
import { described, nullable } from '../../../api/schema.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import { GroupReference, type GroupReferenceRow } from '../../groups/index.ts'
import { findProtectedRefs, ProtectedBranch, type ProtectedRefRow } from '../../pushes/index.ts'
import { type AppliedRuleRow, findRules, type RuleRow, ruleTypes } from './queries.ts'
import type { ProjectApprovalSettings } from './settings-queries.ts'

const NamedGroup = Type.Object(
  { ...GroupReference.schema.properties, path: Type.String({ description: 'Path without parent groups' }) },
  { title: 'ApprovingGroup' },
)

const namedGroup = (row: GroupReferenceRow, ctx: Ctx) => ({
  ...GroupReference.present(row, ctx, undefined),
  path: row.full_path.slice(row.full_path.lastIndexOf('/') + 1),
})

const noCodeOwners = 'Always false: approvals of code owners are not distinguished'

/** How a project handles approvals, and its rule of approvers. */
export type ApprovalConfigurationRow = {
  readonly settings: ProjectApprovalSettings
  readonly approvers: RuleRow | undefined
}

/** How a project handles approvals. */
export const ApprovalConfiguration = entity({
  name: 'ApprovalConfiguration',
  schema: Type.Object({
    approvals_before_merge: Type.Integer({
      description: 'Number of approvals that a merge requires from any approver',
    }),
    reset_approvals_on_push: Type.Boolean({ description: 'A push to the source branch revokes all approvals' }),
    selective_code_owner_removals: Type.Boolean({ description: noCodeOwners }),
    disable_overriding_approvers_per_merge_request: Type.Boolean({
      description: 'Merge requests cannot have rules and required numbers of their own',
    }),
    merge_requests_author_approval: Type.Boolean({ description: 'Authors may approve their merge requests' }),
    merge_requests_disable_committers_approval: Type.Boolean({
      description: 'Users who committed to a merge request may not approve it',
    }),
    require_password_to_approve: Type.Boolean({ description: 'An approval requires the password of the user' }),
    approvers: Type.Array(
      Type.Object({ user: described(UserReferenceSchema, 'User who may approve') }, { title: 'ProjectApprover' }),
      { description: 'Users of the rule `Default`' },
    ),
    approver_groups: Type.Array(
      Type.Object({ group: described(NamedGroup, 'Group whose members may approve') }, { title: 'ApproverGroup' }),
      { description: 'Groups of the rule `Default` that the caller can see' },
    ),
  }),
  present: ({ settings, approvers }: ApprovalConfigurationRow, ctx) => ({
    ...settings,
    selective_code_owner_removals: false,
    approvers: (approvers?.users ?? []).map((user) => ({ user: userReference(user, ctx) })),
    approver_groups: (approvers?.groups ?? []).map((each) => ({ group: namedGroup(each, ctx) })),
  }),
})

const common = {
  name: Type.String({ description: 'Name, unique within the group, project or merge request' }),
  rule_type: Type.String({
    enum: [...ruleTypes],
    description:
      '`any_approver`: all approvals count; `regular`: those of the named users and of members of the groups',
  }),
  report_type: Type.Null({ description: 'Always null: rules do not depend on reports' }),
  eligible_approvers: Type.Array(UserReferenceSchema, {
    description:
      'Users who may approve by this rule: the named ones and the current members of the groups, without those of groups that the caller cannot see; at most 1,000',
  }),
  approvals_required: Type.Integer({ description: 'Number of approvals that the rule requires' }),
  users: Type.Array(UserReferenceSchema, { description: 'Users named by the rule' }),
  groups: Type.Array(NamedGroup, { description: 'Groups that the rule names and the caller can see' }),
  contains_hidden_groups: Type.Boolean({ description: 'The rule names groups that the caller cannot see' }),
}
const id = Type.Integer({ description: 'ID of the rule' })

const commonOf = (row: RuleRow, ctx: Ctx) => ({
  id: row.id,
  name: row.name,
  rule_type: row.rule_type as string,
  report_type: null,
  eligible_approvers: row.eligible.map((user) => userReference(user, ctx)),
  approvals_required: row.approvals_required,
  users: row.users.map((user) => userReference(user, ctx)),
  groups: row.groups.map((group) => namedGroup(group, ctx)),
  contains_hidden_groups: row.hides_groups,
})

type Protected = ReadonlyMap<number, ProtectedRefRow>

/** The protections of the project of these rules, by id; nothing is loaded if no rule names one. */
async function protectionsOf(rows: readonly RuleRow[], ctx: Ctx): Promise<Protected> {
  const limited = rows.find(({ protected_ref_ids }) => protected_ref_ids.length > 0)
  const found = limited ? await findProtectedRefs(ctx.db, limited.project_id!, ctx.actor) : []
  return new Map(found.map((row) => [row.id, row]))
}

const projectRuleFields = {
  id,
  ...common,
  protected_branches: Type.Array(ProtectedBranch.schema, {
    description: 'Protected branches as targets to which the rule is limited; empty: it is not limited to these',
  }),
  applies_to_all_protected_branches: Type.Boolean({
    description: 'The rule applies to every protected branch, and to no other',
  }),
}

const projectRuleOf = (row: RuleRow, ctx: Ctx, protections: Protected) => ({
  ...commonOf(row, ctx),
  protected_branches: row.protected_ref_ids.flatMap((refId) => {
    const found = protections.get(refId)
    return found ? [ProtectedBranch.present(found, ctx, undefined)] : []
  }),
  applies_to_all_protected_branches: row.applies_to_all_protected_branches,
})

/** A rule of a project, or of all projects below a group. */
export const ApprovalRule = entity({
  name: 'ApprovalRule',
  schema: Type.Object(projectRuleFields),
  gather: protectionsOf,
  present: projectRuleOf,
})

const sourceRule = nullable(ApprovalRule.schema, {
  description: 'The rule of the project that this rule replaces; null if it replaces none',
})

/** A rule of one merge request. */
export const MergeRequestApprovalRule = entity({
  name: 'MergeRequestApprovalRule',
  schema: Type.Object({ id, ...common, source_rule: sourceRule }),
  async gather(rows: readonly RuleRow[], ctx) {
    const ids = rows.flatMap(({ source_rule_id }) => source_rule_id ?? [])
    const sources = ids.length === 0 ? [] : await findRules(ctx.db, rows[0]!.project_id!, ctx.actor, ids)
    return { sources, protections: await protectionsOf(sources, ctx) }
  },
  present: (row: RuleRow, ctx, { sources, protections }) => {
    const source = sources.find((each) => each.id === row.source_rule_id)
    return { ...commonOf(row, ctx), source_rule: source ? projectRuleOf(source, ctx, protections) : null }
  },
})

/** The rules that apply to a merge request. */
export type ApprovalStateRow = {
  readonly rules: readonly AppliedRuleRow[]
  /** The number that the project or the merge request requires, if no rule for any approver requires as many. */
  readonly unnamed: { readonly required: number; readonly approved_by: AppliedRuleRow['approved_by'] } | undefined
}

const approved = {
  approved_by: Type.Array(UserReferenceSchema, { description: 'Users whose approvals count for the rule' }),
  approved: Type.Boolean({ description: 'The rule has the approvals that it requires' }),
}

const approvedOf = (row: Pick<AppliedRuleRow, 'approved_by'>, required: number, ctx: Ctx) => ({
  approved_by: row.approved_by.map((user) => userReference(user, ctx)),
  approved: row.approved_by.length >= required,
})

/** Which rules a merge needs, and which of them have their approvals. */
export const ApprovalState = entity({
  name: 'ApprovalState',
  schema: Type.Object({
    approval_rules_overwritten: Type.Boolean({ description: 'The merge request has rules of its own' }),
    rules: Type.Array(
      Type.Object(
        {
          id: nullable(Type.Integer(), {
            description:
              'ID of the rule; null for the number that the project or merge request requires without a rule',
          }),
          ...common,
          ...approved,
        },
        { title: 'AppliedApprovalRule' },
      ),
      { description: 'Rules that apply to the merge request' },
    ),
  }),
  present: ({ rules, unnamed }: ApprovalStateRow, ctx) => ({
    approval_rules_overwritten: rules.some(({ is_own }) => is_own),
    rules: [
      ...rules.map((row) => ({ ...commonOf(row, ctx), ...approvedOf(row, row.approvals_required, ctx) })),
      ...(unnamed
        ? [
            {
              id: null,
              name: 'All Members',
              rule_type: 'any_approver',
              report_type: null,
              eligible_approvers: [],
              approvals_required: unnamed.required,
              users: [],
              groups: [],
              contains_hidden_groups: false,
              ...approvedOf(unnamed, unnamed.required, ctx),
            },
          ]
        : []),
    ],
  }),
})
