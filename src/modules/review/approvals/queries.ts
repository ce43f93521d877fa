import type { Caller } from '../../../access/actor.ts'
import { byKey, type Db, type Tx } from '../../../db/db.ts'
import { boolean, integer, json, nullable, oneOf, type RowOf, text, textOf, timestamp } from '../../../db/row.ts'
import { and, raw, type Sql, sql } from '../../../db/sql.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { type Plan, planOffers } from '../../../kernel/plan.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'
import { withPlaceOf } from '../../discussion/index.ts'
import { visibleGroups } from '../../namespaces/index.ts'
import {
  appliesRule,
  approvalSetting,
  approvalsLeft,
  approvalsOfProject,
  groupsAbove,
  isApprovedSql,
  isExcluded,
  isHeldFor,
  isNamedBy,
  requiredApprovals,
} from '../merge-requests/approval-queries.ts'
import { mergeRequestStates, mergeStatuses } from '../merge-requests/states.ts'

/** Filter of lists: merge requests without such users, with any, or with all of these. */
export type PeopleFilter = 'None' | 'Any' | readonly number[]

const filtered = (people: Sql, filter: PeopleFilter): Sql => {
  if (filter === 'None') return sql`not exists (${people})`
  // `offset` keeps it from becoming a join with those of all merge requests.
  if (filter === 'Any') return sql`exists (${people} offset 0)`
  return sql`${[...new Set(filter)]}::bigint[] <@ array(${people})`
}

/** Condition on the merge request `m`: who approved it. Those whom users approved are found by the users. */
export function approvedBy(filter: PeopleFilter): Sql {
  if (filter === 'None' || filter === 'Any')
    return filtered(sql`select a.user_id from approvals a where a.merge_request_id = m.id`, filter)
  return and(filter.map((id) => sql`m.id in (select a.merge_request_id from approvals a where a.user_id = ${id})`))
}

/**
 * Condition on the merge request `m`: who is named to approve it, by the merge request or by a rule that applies to it. Members of the
 * groups of a rule are not named.
 */
export function approvedWanted(filter: PeopleFilter): Sql {
  const exact = filtered(
    sql`
      select a.user_id
      from approvers a
      where a.merge_request_id = m.id
      union all
      select ru.user_id
      from approval_rules r join approval_rule_users ru on ru.approval_rule_id = r.id
      where ${isHeldFor} and ${appliesRule}
    `,
    filter,
  )
  if (filter === 'None' || filter === 'Any' || filter.length === 0) return exact
  return sql`${isPerhapsNamed(filter[0]!)} and ${exact}`
}

/**
 * True for the merge request `m` if anything names the user, whether or not it applies. It is found once, by the user: whether a rule applies takes
 * ten times as long for each merge request.
 */
function isPerhapsNamed(userId: number): Sql {
  const rules = sql`
    from approval_rule_users ru join approval_rules r on r.id = ru.approval_rule_id where ru.user_id = ${userId}
  `
  const groups = sql`array(select r.group_id ${rules} and r.group_id is not null)`
  return sql`
    (
      m.id in (select a.merge_request_id from approvers a where a.user_id = ${userId})
      or m.id in (select r.merge_request_id ${rules} and r.merge_request_id is not null)
      or m.project_id in (select r.project_id ${rules} and r.project_id is not null)
      or (${groups} <> '{}' and ${groupsAbove} && ${groups})
    )
  `
}

/** Whether a merge request has the required approvals; always true on a plan without approvals. */
export async function isApproved(db: Db, mergeRequestId: number, plan: Plan): Promise<boolean> {
  if (!planOffers(plan, 'starter')) return true
  const row = await db.row(
    { approved: boolean },
    byKey(sql`
      select ${isApprovedSql} as approved
      from merge_requests m join projects p on p.id = m.project_id
      where m.id = ${mergeRequestId}
    `),
  )
  return row?.approved ?? false
}

export const approvalsRow = {
  id: integer,
  iid: integer,
  project_id: integer,
  title: text,
  description: nullable(text),
  state: oneOf(...mergeRequestStates),
  merge_status: oneOf(...mergeStatuses),
  created_at: timestamp,
  updated_at: timestamp,
  required: integer,
  left: integer,
  approved: boolean,
  needs_password: boolean,
  /** In the order of their approvals. */
  approved_by: json<UserReferenceRow[]>(),
  /** Users requested to approve, by the author or a developer. */
  approvers: json<UserReferenceRow[]>(),
}
export type ApprovalsRow = RowOf<typeof approvalsRow>

const people = (table: 'approvals' | 'approvers', order: string): Sql => sql`
  (
    select coalesce(json_agg(${userReferenceJson('u')} order by ${raw(order)}), '[]')
    from ${raw(table)} a join users u on u.id = a.user_id
    where a.merge_request_id = m.id
  )
`

export const findApprovals = (db: Db, mergeRequestId: number): Promise<ApprovalsRow | undefined> =>
  db.row(
    approvalsRow,
    byKey(sql`
      select m.id, m.iid, m.project_id, m.title, m.description, m.state, m.merge_status, m.created_at, m.updated_at,
        ${requiredApprovals} as required, ${approvalsLeft} as left, ${isApprovedSql} as approved,
        ${approvalSetting('require_password_to_approve')} as needs_password,
        ${people('approvals', 'a.created_at, u.id')} as approved_by, ${people('approvers', 'u.id')} as approvers
      from merge_requests m join projects p on p.id = m.project_id
      where m.id = ${mergeRequestId}
    `),
  )

const approverRow = {
  /** The user is asked to approve, or a rule that applies names them. */
  approver: boolean,
  /** The settings of the project keep the user from approving. */
  excluded: boolean,
}

/** What decides whether a user may approve a merge request, besides their role. */
export const findApprover = (
  db: Db,
  mergeRequestId: number,
  userId: number,
): Promise<RowOf<typeof approverRow> | undefined> =>
  db.row(
    approverRow,
    byKey(sql`
      select exists (select from approvers a where a.merge_request_id = m.id and a.user_id = ${userId})
        or exists (
          select from approval_rules r where ${isHeldFor} and ${appliesRule} and ${isNamedBy(sql`${userId}::bigint`)}
        ) as approver,
        ${isExcluded(sql`${userId}::bigint`)} as excluded
      from merge_requests m
      where m.id = ${mergeRequestId}
    `),
  )

export const heldForApprovalRow = {
  state: oneOf(...mergeRequestStates),
  head_oid: nullable(textOf<Oid>()),
  approvals_before_merge: nullable(integer),
  /** The number that its project requires. */
  least: integer,
}
export type HeldForApproval = RowOf<typeof heldForApprovalRow>

/** Locks the row of a merge request until the transaction ends. Throws if the caller has lost the permission meanwhile. */
export async function lockForApproval(tx: Tx, mergeRequestId: number): Promise<HeldForApproval | undefined> {
  const held = await tx.row(
    heldForApprovalRow,
    sql`
      ${withPlaceOf('MergeRequest', mergeRequestId)}
      select m.state, (select d.head_oid from merge_request_diffs d where d.id = m.diff_id) as head_oid,
        m.approvals_before_merge, ${approvalsOfProject} as least
      from place cross join merge_requests m join projects p on p.id = m.project_id
      where m.id = ${mergeRequestId}
      for no key update of m
    `,
  )
  if (held) await tx.requirePermission?.()
  return held
}

/** False if the user has approved it already. */
export const insertApproval = async (tx: Tx, mergeRequestId: number, userId: number): Promise<boolean> =>
  (await tx.run(sql`
    insert into approvals (merge_request_id, user_id) values (${mergeRequestId}, ${userId}) on conflict do nothing
  `)) > 0

/** False if the user has not approved it. */
export const deleteApproval = async (tx: Tx, mergeRequestId: number, userId: number): Promise<boolean> =>
  (await tx.run(sql`delete from approvals where merge_request_id = ${mergeRequestId} and user_id = ${userId}`)) > 0

export const deleteApprovals = (tx: Tx, mergeRequestId: number): Promise<number> =>
  tx.run(sql`delete from approvals where merge_request_id = ${mergeRequestId}`)

export const saveRequiredApprovals = (tx: Tx, mergeRequestId: number, count: number): Promise<number> =>
  tx.run(
    sql`update merge_requests set approvals_before_merge = ${count}, updated_at = now() where id = ${mergeRequestId}`,
  )

/** Replaces the requested approvers; returns the new ones. */
export async function replaceApprovers(tx: Tx, mergeRequestId: number, userIds: readonly number[]): Promise<number[]> {
  await tx.run(
    sql`delete from approvers where merge_request_id = ${mergeRequestId} and user_id <> all(${userIds}::bigint[])`,
  )
  const rows = await tx.rows(
    { user_id: integer },
    sql`
      insert into approvers (merge_request_id, user_id)
      select ${mergeRequestId}, id
      from unnest(${userIds}::bigint[]) as id
      on conflict do nothing
      returning user_id
    `,
  )
  return rows.map(({ user_id }) => user_id)
}

/** Maximum members of groups who are asked to approve. */
export const maxAskedMembers = 500

/** The ids of the current members of those groups that the caller may see; of more than `maxAskedMembers`, one more than that. */
export const membersOfGroups = async (db: Db, caller: Caller, groupIds: readonly number[]): Promise<number[]> =>
  (
    await db.rows(
      { user_id: integer },
      sql`
        select distinct x.user_id
        from namespaces g join group_access x on x.group_id = g.id and x.expires_on > current_date
        where g.id = any(${groupIds}::bigint[]) and g.kind = 'group' and ${visibleGroups(caller)}
        order by x.user_id
        limit ${maxAskedMembers + 1}
      `,
    )
  ).map(({ user_id }) => user_id)
