import { raw, type Sql, sql } from '../../../db/sql.ts'
import { isMemberFrom, mayRead } from '../../discussion/index.ts'

/** The number of approvals that the project `p` requires from any approver. */
export const approvalsOfProject = raw(`coalesce((p.settings->>'approvals_before_merge')::integer, 0)`)

/** Defaults of `approval_settings`: a project without a row has these. */
export const approvalDefaults = {
  merge_requests_author_approval: false,
  merge_requests_disable_committers_approval: false,
  disable_overriding_approvers_per_merge_request: false,
  reset_approvals_on_push: true,
  require_password_to_approve: false,
}
export type ApprovalSettings = { readonly [Name in keyof typeof approvalDefaults]: boolean }

/** A setting of the project with this id. */
export const approvalSetting = (name: keyof ApprovalSettings, projectId: Sql = raw('m.project_id')): Sql =>
  sql`
    coalesce(
      (select s.${raw(name)} from approval_settings s where s.project_id = ${projectId}),
      ${raw(String(approvalDefaults[name]))}
    )
  `

/** Revokes the approvals of a merge request that has a new head, unless its project keeps them. */
export const revokesApprovals = (mergeRequestId: number): Sql => sql`
  delete from approvals a using merge_requests m
  where m.id = ${mergeRequestId} and a.merge_request_id = m.id and ${approvalSetting('reset_approvals_on_push')}
`

/** Whether the merge request `m` may have rules and numbers of its own. */
const mayOverride: Sql = sql`not ${approvalSetting('disable_overriding_approvers_per_merge_request')}`

/** Condition on a user: the settings of the project keep them from approving the merge request `m`. */
export const isExcluded = (userId: Sql): Sql => sql`
  (
    (${userId} = m.author_id and not ${approvalSetting('merge_requests_author_approval')})
    or (
      exists (select from merge_request_committers c where c.merge_request_id = m.id and c.user_id = ${userId})
      and ${approvalSetting('merge_requests_disable_committers_approval')}
    )
  )
`

/** Condition on a user: the rule `r` names them, or a group of which they are a member now. */
export const isNamedBy = (userId: Sql): Sql => sql`
  (
    exists (select from approval_rule_users ru where ru.approval_rule_id = r.id and ru.user_id = ${userId})
    or exists (
      select
      from approval_rule_groups rg
        join group_access x on x.group_id = rg.group_id and x.user_id = ${userId} and x.expires_on > current_date
      where rg.approval_rule_id = r.id
    )
  )
`

/** `*` of a protected branch matches any text; all else is literal. */
const branchPattern = raw(
  String.raw`replace(replace(replace(replace(b.name, '\', '\\'), '%', '\%'), '_', '\_'), '*', '%')`,
)

/** Condition on the rule `r` of a project or group: it applies to the target branch of the merge request `m`. */
const coversTarget: Sql = sql`
  (
    case
      when r.applies_to_all_protected_branches then exists (
        select
        from protected_refs b
        where b.project_id = m.project_id and b.kind = 'branch' and m.target_branch like ${branchPattern}
      )
      else not exists (select from approval_rule_branches rb where rb.approval_rule_id = r.id)
        or exists (
          select
          from approval_rule_branches rb join protected_refs b on b.id = rb.protected_ref_id
          where rb.approval_rule_id = r.id and m.target_branch like ${branchPattern}
        )
    end
  )
`

/** The ids of the groups above the project of the merge request `m`. */
export const groupsAbove: Sql = raw(
  `(select d.traversal_ids from projects g join namespaces d on d.id = g.namespace_id where g.id = m.project_id)::bigint[]`,
)

/** Condition on a rule `r`: it belongs to the merge request `m`, to its project, or to a group above. Each part has an index. */
export const isHeldFor: Sql = sql`
  (r.project_id = m.project_id or r.merge_request_id = m.id or r.group_id = any(${groupsAbove}))
`

/**
 * Condition on a rule `r` for which `isHeldFor` holds: it applies to the merge request `m`. A rule of the merge request replaces
 * its source; rules of groups cannot be replaced.
 */
export const appliesRule: Sql = sql`
  (
    (
      r.merge_request_id is null
      and ${coversTarget}
      and not (
        ${mayOverride}
        and exists (select from approval_rules o where o.source_rule_id = r.id and o.merge_request_id = m.id)
      )
    )
    or (r.merge_request_id = m.id and ${mayOverride})
  )
`

/** The rules that apply to the merge request `m`, as `r`. */
const applyingRules: Sql = sql`from approval_rules r where ${isHeldFor} and ${appliesRule}`

/** How many approvals the rule `r` requires: at least as many as the rule that it replaces. */
export const requiredOfRule: Sql = raw(
  `greatest(r.approvals_required, (select o.approvals_required from approval_rules o where o.id = r.source_rule_id))`,
)

/**
 * Condition on an approval `a` of the merge request `m` of project `p`: it counts, because its user could still approve. SQL twin of the
 * ability to approve in the policy, for users who can act.
 */
export const isCounted: Sql = sql`
  (
    not ${isExcluded(raw('a.user_id'))}
    and exists (
      select
      from users u
      where u.id = a.user_id
        and u.state = 'active'
        and ${mayRead('MergeRequest')}
        and (
          u.admin
          or ${isMemberFrom('MergeRequest', 'developer')}
          or exists (select from approvers w where w.merge_request_id = m.id and w.user_id = u.id)
          or exists (select ${applyingRules} and ${isNamedBy(raw('u.id'))})
        )
    )
  )
`

/** Approvals `a` of the merge request `m` of project `p` that count. */
const countedApprovals: Sql = sql`from approvals a where a.merge_request_id = m.id and ${isCounted}`

/** The number of approvals of any approver that the merge request `m` of project `p` needs: the greatest that applies. */
export const requiredOfAny: Sql = sql`
  greatest(
    case when ${mayOverride} then m.approvals_before_merge end, ${approvalsOfProject},
    (select max(${requiredOfRule}) ${applyingRules} and r.rule_type = 'any_approver')
  )
`

/**
 * How many approvals the merge request `m` of project `p` requires: those of any approver, and those of each rule. A bigint, as a sum of
 * integers is: it may be greater than each of them can be.
 */
export const requiredApprovals: Sql = sql`
  (${requiredOfAny} + (select coalesce(sum(${requiredOfRule}), 0) ${applyingRules} and r.rule_type = 'regular'))
`

const countedOfAny: Sql = sql`(select count(*)::integer ${countedApprovals})`

/** How many approvals the rule `r` has from the users it names. */
const countedOfRule: Sql = sql`(select count(*)::integer ${countedApprovals} and ${isNamedBy(raw('a.user_id'))})`

/** How many approvals the merge request `m` of project `p` still needs, a bigint; one approval counts for each rule that names its user. */
export const approvalsLeft: Sql = sql`
  (
    greatest(${requiredOfAny} - ${countedOfAny}, 0) + (
      select coalesce(sum(greatest(${requiredOfRule} - ${countedOfRule}, 0)), 0) ${applyingRules}
        and r.rule_type = 'regular'
    )
  )
`

/** Whether the merge request `m` of project `p` has the approvals that it requires. */
export const isApprovedSql: Sql = sql`
  (
    ${countedOfAny} >= ${requiredOfAny}
    and not exists (select ${applyingRules} and r.rule_type = 'regular' and ${requiredOfRule} > ${countedOfRule})
  )
`
