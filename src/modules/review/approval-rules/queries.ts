import type { Caller } from '../../../access/actor.ts'
import type { List } from '../../../api/list.ts'
import { byKey, type Db, type Tx } from '../../../db/db.ts'
import { boolean, integer, json, listOf, nullable, oneOf, type RowOf, text } from '../../../db/row.ts'
import { literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'
import { readersOf } from '../../discussion/index.ts'
import { type Deleted, type GroupReferenceRow, isDeletedBy } from '../../groups/index.ts'
import { visibleGroups } from '../../namespaces/index.ts'
import {
  appliesRule,
  isCounted,
  isExcluded,
  isHeldFor,
  isNamedBy,
  requiredOfRule,
} from '../merge-requests/approval-queries.ts'

/** Maximum approvals that a rule requires. */
export const maxRequired = 100

export const ruleTypes = ['any_approver', 'regular'] as const
export type RuleType = (typeof ruleTypes)[number]

/** What a rule belongs to: all projects below a group, a project, or one merge request. */
export type RuleHolder = { readonly of: 'group' | 'project' | 'merge_request'; readonly id: number }

export const ruleRow = {
  id: integer,
  /** The project, or the target project of the merge request; null for a rule of a group. */
  project_id: nullable(integer),
  /** The rule of the project that this rule of a merge request replaces. */
  source_rule_id: nullable(integer),
  name: text,
  rule_type: oneOf(...ruleTypes),
  approvals_required: integer,
  applies_to_all_protected_branches: boolean,
  users: json<UserReferenceRow[]>(),
  /** Groups that the caller may see. */
  groups: json<GroupReferenceRow[]>(),
  hides_groups: boolean,
  /** The users, and the members of the groups that the caller may see, who may approve. At most `maxEligible`. */
  eligible: json<UserReferenceRow[]>(),
  protected_ref_ids: listOf(integer),
}
export type RuleRow = RowOf<typeof ruleRow>

/** Maximum users that the record of a rule lists as eligible approvers. */
const maxEligible = 1000

const userList = (condition: Sql): Sql => sql`
  (
    select coalesce(json_agg(${userReferenceJson('u')} order by u.id), '[]')
    from (select u.* from users u where ${condition} order by u.id limit ${literal(maxEligible)}) u
  )
`

const ofRule = raw('g.id in (select rg.group_id from approval_rule_groups rg where rg.approval_rule_id = r.id)')

/** Columns of the rule `r` of the project `p`, if it has one, and of its merge request `m` if `eligible` looks at it. */
const columns = (caller: Caller, eligible: Sql): Sql => sql`
  r.id, p.id as project_id, r.source_rule_id, r.name, r.rule_type, ${requiredOfRule} as approvals_required,
  r.applies_to_all_protected_branches,
  ${userList(raw('u.id in (select ru.user_id from approval_rule_users ru where ru.approval_rule_id = r.id)'))} as users,
  (
    select coalesce(
      json_agg(
        json_build_object(
          'id', g.id, 'name', g.name, 'full_name', g.full_name, 'full_path', g.full_path, 'avatar', g.avatar
        )
        order by g.id
      ),
      '[]'
    )
    from namespaces g
    where ${ofRule} and ${visibleGroups(caller)}
  ) as groups,
  exists (select from namespaces g where ${ofRule} and not ${visibleGroups(caller)}) as hides_groups,
  ${userList(sql`
    (r.group_id is not null or ${readersOf('MergeRequest')})
    and u.id in (
      select ru.user_id
      from approval_rule_users ru
      where ru.approval_rule_id = r.id
      union
      select x.user_id
      from namespaces g join group_access x on x.group_id = g.id and x.expires_on > current_date
      where ${ofRule} and ${visibleGroups(caller)}
    )
    and ${eligible}
  `)} as eligible,
  array(
    select rb.protected_ref_id
    from approval_rule_branches rb
    where rb.approval_rule_id = r.id
    order by rb.protected_ref_id
  ) as protected_ref_ids
`

const held = ({ of, id }: RuleHolder): Sql => sql`${raw(`r.${of}_id`)} = ${id}`

const select = (caller: Caller): Sql => sql`
  select ${columns(caller, raw('true'))}
  from approval_rules r
    left join merge_requests m on m.id = r.merge_request_id
    left join projects p on p.id = coalesce(r.project_id, m.project_id)
`

/** The rules of a group, project or merge request, oldest first. */
export const rulesOf = (holder: RuleHolder, caller: Caller): List => ({
  type: 'ApprovalRule',
  select: select(caller),
  from: raw('from approval_rules r'),
  key: raw('r.id'),
  where: [held(holder)],
  order: [{ by: raw('r.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

export const findRule = (db: Db, holder: RuleHolder, caller: Caller, id: number): Promise<RuleRow | undefined> =>
  db.row(ruleRow, sql`${select(caller)} where ${held(holder)} and r.id = ${id}`)

/** Rules of a project by their ids, unordered. */
export const findRules = (db: Db, projectId: number, caller: Caller, ids: readonly number[]): Promise<RuleRow[]> =>
  ids.length === 0
    ? Promise.resolve([])
    : db.rows(
        ruleRow,
        sql`${select(caller)} where r.project_id = ${projectId} and r.id = any(${[...new Set(ids)]}::bigint[])`,
      )

export const appliedRuleRow = {
  ...ruleRow,
  /** Users whose approvals count for the rule. */
  approved_by: json<UserReferenceRow[]>(),
  is_own: boolean,
}
export type AppliedRuleRow = RowOf<typeof appliedRuleRow>

/** The rules that apply to a merge request, with their approvals, oldest first. */
export const appliedRules = (db: Db, mergeRequestId: number, caller: Caller): Promise<AppliedRuleRow[]> =>
  db.rows(
    appliedRuleRow,
    byKey(sql`
      select ${columns(caller, sql`not ${isExcluded(raw('u.id'))}`)},
        (
          select coalesce(json_agg(${userReferenceJson('u')} order by a.created_at, u.id), '[]')
          from approvals a join users u on u.id = a.user_id
          where a.merge_request_id = m.id
            and ${isCounted}
            and (r.rule_type = 'any_approver' or ${isNamedBy(raw('u.id'))})
        ) as approved_by,
        r.merge_request_id is not null as is_own
      from merge_requests m join projects p on p.id = m.project_id join approval_rules r on ${isHeldFor}
      where m.id = ${mergeRequestId} and ${appliesRule}
      order by r.id
    `),
  )

/** Maximum rules of a group, of a project, and of a merge request. */
export const maxRules = 100

export const countRules = async (tx: Tx, holder: RuleHolder): Promise<number> =>
  (await tx.row(
    { count: integer },
    sql`select count(*)::integer as count from approval_rules r where ${held(holder)}`,
  ))!.count

export type RuleValues = {
  readonly name: string
  readonly approvalsRequired: number
  readonly appliesToAllProtectedBranches: boolean
}

export const insertRule = async (
  tx: Tx,
  { of, id }: RuleHolder,
  rule: RuleValues & { readonly type: RuleType; readonly sourceRuleId: number | null },
): Promise<number> =>
  (await tx.row(
    { id: integer },
    sql`
      insert into approval_rules (
        ${raw(`${of}_id`)}, source_rule_id, name, rule_type, approvals_required,
        applies_to_all_protected_branches
      )
      values (
        ${id}, ${rule.sourceRuleId}, ${rule.name}, ${rule.type}, ${rule.approvalsRequired},
        ${rule.appliesToAllProtectedBranches}
      )
      returning id
    `,
  ))!.id

export const updateRule = (tx: Tx, id: number, rule: RuleValues): Promise<number> =>
  tx.run(sql`
    update approval_rules
    set name = ${rule.name}, approvals_required = ${rule.approvalsRequired},
      applies_to_all_protected_branches = ${rule.appliesToAllProtectedBranches}
    where id = ${id}
  `)

export const deleteRule = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`delete from approval_rules where id = ${id}`)

/** Name and values of a rule, locked until the transaction ends. */
export const lockRule = (tx: Tx, holder: RuleHolder, id: number) =>
  tx.row(
    {
      name: text,
      rule_type: oneOf(...ruleTypes),
      approvals_required: integer,
      applies_to_all_protected_branches: boolean,
      source_rule_id: nullable(integer),
      /** The number that the replaced rule requires; null without one. */
      source_required: nullable(integer),
    },
    sql`
      select r.name, r.rule_type, r.approvals_required, r.applies_to_all_protected_branches, r.source_rule_id,
        (select o.approvals_required from approval_rules o where o.id = r.source_rule_id) as source_required
      from approval_rules r
      where ${held(holder)} and r.id = ${id}
      for no key update of r
    `,
  )

/** A rule of a project, as the source of one of a merge request. */
export const findSource = (tx: Tx, projectId: number, id: number) =>
  tx.row(
    {
      name: text,
      rule_type: oneOf(...ruleTypes),
      approvals_required: integer,
      user_ids: listOf(integer),
      group_ids: listOf(integer),
    },
    sql`
      select r.name, r.rule_type, r.approvals_required,
        array(select user_id from approval_rule_users u where u.approval_rule_id = r.id) as user_ids,
        array(select group_id from approval_rule_groups g where g.approval_rule_id = r.id) as group_ids
      from approval_rules r
      where r.project_id = ${projectId} and r.id = ${id}
    `,
  )

const parts = {
  users: ['approval_rule_users', 'user_id'],
  groups: ['approval_rule_groups', 'group_id'],
  branches: ['approval_rule_branches', 'protected_ref_id'],
} as const

/** Replaces the users, groups or protected branches of a rule. */
export async function replacePart(
  tx: Tx,
  part: keyof typeof parts,
  ruleId: number,
  ids: readonly number[],
): Promise<boolean> {
  const [table, column] = [raw(parts[part][0]), raw(parts[part][1])]
  const removed = await tx.run(
    sql`delete from ${table} where approval_rule_id = ${ruleId} and ${column} <> all(${ids}::bigint[])`,
  )
  const added = await tx.run(sql`
    insert into ${table} (${column}, approval_rule_id)
    select distinct id, ${ruleId}::bigint
    from unnest(${ids}::bigint[]) as id
    on conflict do nothing
  `)
  return removed + added > 0
}

/** The rule of a project with this name. */
export const findRuleNamed = (db: Db, projectId: number, caller: Caller, name: string): Promise<RuleRow | undefined> =>
  db.row(ruleRow, sql`${select(caller)} where r.project_id = ${projectId} and r.name = ${name}`)

/** The ids of the users among these. */
export const usersAmong = async (db: Db, ids: readonly number[]): Promise<number[]> =>
  (await db.rows({ id: integer }, sql`select u.id from users u where u.id = any(${ids}::bigint[]) order by u.id`)).map(
    ({ id }) => id,
  )

/** The ids of the users with these names, and of the groups among these that the caller may see. */
export const findNamed = async (
  db: Db,
  caller: Caller,
  { usernames, groupIds }: { readonly usernames: readonly string[]; readonly groupIds: readonly number[] },
): Promise<{ readonly userIds: number[]; readonly groupIds: number[] }> => {
  const row = (await db.row(
    { user_ids: listOf(integer), group_ids: listOf(integer) },
    sql`
      select array(
          select u.id
          from users u
          where lower(u.username) = any(${usernames.map((name) => name.toLowerCase())}::text[])
        ) as user_ids,
        array(
          select g.id
          from namespaces g
          where g.id = any(${groupIds}::bigint[]) and g.kind = 'group' and ${visibleGroups(caller)}
        ) as group_ids
    `,
  ))!
  return { userIds: row.user_ids, groupIds: row.group_ids }
}

/**
 * The rules that name an account or group that is deleted: those of projects and groups that remain, and of merge requests that are not
 * merged or closed.
 */
export const rulesNaming = (tx: Tx, deleted: Deleted) =>
  tx.rows(
    {
      id: integer,
      name: text,
      project_id: nullable(integer),
      group_id: nullable(integer),
      merge_request_id: nullable(integer),
    },
    sql`
      select r.id, r.name, coalesce(r.project_id, m.project_id) as project_id, r.group_id, r.merge_request_id
      from approval_rules r
        left join merge_requests m on m.id = r.merge_request_id
        left join projects p on p.id = coalesce(r.project_id, m.project_id)
        left join namespaces n on n.id = r.group_id
      where r.id in (
          select a.approval_rule_id
          from (
            select approval_rule_id, user_id, null::bigint as group_id from approval_rule_users
            union all select approval_rule_id, null, group_id from approval_rule_groups
          ) a
          where ${isDeletedBy(deleted, raw('a.user_id'), raw('a.group_id'))}
        )
        and p.deleting is not true
        and n.deleting is not true
        and (m.id is null or m.state = 'opened')
      order by r.id
    `,
  )
