import {
  author,
  choice,
  flag,
  informs,
  moment,
  oid,
  orElse,
  orNull,
  ownNumber,
  participant,
  partOf,
  partOfOrNull,
  person,
  readAs,
  refersTo,
  self,
  whole,
  words,
} from '../../../db/portable/columns.ts'
import { type Amending, below, heldBy, type PortableRecord, type Relation } from '../../../db/portable/relation.ts'
import { raw, sql } from '../../../db/sql.ts'
import { groupOrder, groupsBelow } from '../../groups/index.ts'
import { reachNumber } from '../../projects/index.ts'
import { maxRequired } from '../approval-rules/queries.ts'

const branch = words(1024)

/**
 * An open merge request needs a source branch in the project: one from a fork takes the branch of that name. Of two with the same
 * branches the later is closed.
 */
function opened(record: PortableRecord, { state }: Amending): PortableRecord {
  if (record['state'] !== 'opened') return record
  const branches = JSON.stringify([record['source_branch'], record['target_branch']])
  if (state.has(branches)) return { ...record, state: 'closed' }
  state.set(branches, 1)
  return { ...record, own_source: true }
}

const mergeRequests: Relation = {
  name: 'merge_requests',
  ...heldBy('merge_requests'),
  order: ['t.iid'],
  columns: {
    iid: ownNumber,
    title: words(255),
    description: orNull(words(1_048_576)),
    author: { ...author, column: 'author_id' },
    // The lock ends with the merge that holds it.
    state: readAs("case t.state when 'locked' then 'opened' else t.state end", choice('opened', 'closed', 'merged')),
    target_branch: branch,
    source_branch: branch,
    own_source: { ...self, column: 'source_project_id' },
    milestone: { ...refersTo('milestones'), column: 'milestone_id' },
    discussion_locked: orNull(flag),
    squash: orElse(flag, false),
    allow_collaboration: orElse(flag, false),
    force_remove_source_branch: orNull(flag),
    should_remove_source_branch: orNull(flag),
    approvals_before_merge: orNull(whole()),
    lacks_target: orElse(flag, false),
    merge_commit_oid: orNull(oid),
    squash_commit_oid: orNull(oid),
    merged_by: { ...person, column: 'merged_by_id' },
    merged_at: orNull(moment),
    closed_by: { ...person, column: 'closed_by_id' },
    closed_at: orNull(moment),
    time_estimate: orElse(whole(), 0),
    created_at: moment,
    updated_at: moment,
  },
  hasId: true,
  holder: ['project_id'],
  amend: opened,
  batch: 50,
  after: ({ id }) => [
    reachNumber(
      'merge_requests',
      sql`(select coalesce(max(iid), 0) from merge_requests where project_id = ${id})`,
      sql`select ${id}::bigint as project_id`,
    ),
    // What was merged could be merged, and is not checked again.
    sql`update merge_requests set merge_status = 'can_be_merged' where project_id = ${id} and state = 'merged'`,
  ],
}

const mergeRequest = { merge_request: { ...partOf('merge_requests'), column: 'merge_request_id' } }
const user = { user: { ...participant, column: 'user_id' } }

const versions: Relation = {
  name: 'merge_request_diffs',
  ...below('merge_requests', 'merge_request_id', 'merge_request_diffs'),
  order: ['m.iid', 't.id'],
  columns: {
    ...mergeRequest,
    state: choice('collected', 'empty', 'overflow', 'without_files'),
    head_oid: orNull(oid),
    start_oid: orNull(oid),
    base_oid: orNull(oid),
    files: orElse(whole(), 0),
    overflow: orElse(flag, false),
    commits: orElse(whole(), 0),
    created_at: moment,
  },
  hasId: true,
  after: ({ id }) => [
    // Every merge request has a version, whatever the archive contains.
    sql`
      insert into merge_request_diffs (merge_request_id, state)
      select m.id, 'empty'
      from merge_requests m
      where m.project_id = ${id} and not exists (select from merge_request_diffs d where d.merge_request_id = m.id)
    `,
    sql`
      update merge_requests m
      set diff_id = (select max(d.id) from merge_request_diffs d where d.merge_request_id = m.id)
      where m.project_id = ${id}
    `,
  ],
}

const commits: Relation = {
  name: 'merge_request_commits',
  table: 'merge_request_commits',
  from: raw(`from merge_requests m
    join merge_request_diffs d on d.merge_request_id = m.id
    join merge_request_commits t on t.diff_id = d.id`),
  where: ({ id }) => sql`m.project_id = ${id}`,
  order: ['m.iid', 'd.id', 't.position'],
  columns: { diff: { ...partOf('merge_request_diffs'), column: 'diff_id' }, position: whole(), oid },
  batch: 2000,
}

/** Users of merge requests. */
const people = (table: string, columns: Relation['columns'] = {}): Relation => ({
  name: table === 'approvals' || table === 'approvers' ? `merge_request_${table}` : table,
  ...below('merge_requests', 'merge_request_id', table),
  from: raw(`from merge_requests m join ${table} t on t.merge_request_id = m.id join users u on u.id = t.user_id`),
  order: ['m.iid', { text: 'u.username' }],
  columns: { ...mergeRequest, ...user, ...columns },
  repeats: 'skip',
})

const closings: readonly Relation[] = [
  {
    name: 'merge_requests_closing_issues',
    ...below('merge_requests', 'merge_request_id', 'merge_requests_closing_issues'),
    from: raw(`from merge_requests m
      join merge_requests_closing_issues t on t.merge_request_id = m.id
      join issues i on i.id = t.issue_id`),
    order: ['m.iid', 't.issue_id'],
    columns: { ...mergeRequest, issue: { ...partOf('issues'), column: 'issue_id' } },
    repeats: 'skip',
  },
  {
    name: 'issue_closings',
    ...below('issues', 'issue_id', 'issue_closings'),
    order: ['m.iid', 't.id'],
    columns: {
      issue: { ...partOf('issues'), column: 'issue_id' },
      merge_request: { ...partOfOrNull('merge_requests'), column: 'merge_request_id' },
      commit_oid: orNull(oid),
    },
    repeats: 'skip',
  },
]

const settings: Relation = {
  name: 'approval_settings',
  ...heldBy('approval_settings'),
  order: ['t.project_id'],
  columns: {
    merge_requests_author_approval: flag,
    merge_requests_disable_committers_approval: flag,
    disable_overriding_approvers_per_merge_request: flag,
    reset_approvals_on_push: flag,
    require_password_to_approve: flag,
  },
  holder: ['project_id'],
  repeats: 'skip',
}

const ruleColumns = {
  name: words(10_000),
  rule_type: choice('any_approver', 'regular'),
  approvals_required: whole(0, maxRequired),
  applies_to_all_protected_branches: orElse(flag, false),
  created_at: moment,
  groups: orNull(
    informs(
      'nullif((select count(*)::integer from approval_rule_groups g where g.approval_rule_id = t.id), 0)',
      whole(),
    ),
  ),
}

/** Counts the groups that a rule names, which are left out. It requires as many approvals as before. */
const withoutGroups =
  (rule: string) =>
  (record: PortableRecord, { leaveOut }: Amending): PortableRecord => {
    if (typeof record['groups'] === 'number') leaveOut(`${rule}_groups`, record['groups'])
    return record
  }

const rules: Relation = {
  name: 'approval_rules',
  ...heldBy('approval_rules'),
  order: ['t.id'],
  columns: ruleColumns,
  hasId: true,
  holder: ['project_id'],
  amend: withoutGroups('approval_rules'),
}

const ruleParts = (rule: string, from: string): readonly Relation[] => [
  {
    name: `${rule}_users`,
    table: 'approval_rule_users',
    from: raw(`${from} join approval_rule_users t on t.approval_rule_id = r.id join users u on u.id = t.user_id`),
    where: ({ id }) => sql`m.id = ${id}`,
    order: ['r.id', { text: 'u.username' }],
    columns: { rule: { ...partOf(rule), column: 'approval_rule_id' }, ...user },
    repeats: 'skip',
  },
]

const ofProject = 'from projects m join approval_rules r on r.project_id = m.id'
const ofMergeRequests = `from projects m join merge_requests q on q.project_id = m.id
  join approval_rules r on r.merge_request_id = q.id`

const rulesOfMergeRequests: Relation = {
  name: 'merge_request_approval_rules',
  ...below('merge_requests', 'merge_request_id', 'approval_rules'),
  order: ['m.iid', 't.id'],
  columns: {
    ...mergeRequest,
    source_rule: { ...partOfOrNull('approval_rules'), column: 'source_rule_id' },
    ...ruleColumns,
  },
  hasId: true,
  amend: withoutGroups('merge_request_approval_rules'),
}

const branches: Relation = {
  name: 'approval_rule_branches',
  table: 'approval_rule_branches',
  from: raw(`${ofProject} join approval_rule_branches t on t.approval_rule_id = r.id`),
  where: ({ id }) => sql`m.id = ${id}`,
  order: ['r.id', 't.protected_ref_id'],
  columns: {
    rule: { ...partOf('approval_rules'), column: 'approval_rule_id' },
    protected_ref: { ...partOf('protected_refs'), column: 'protected_ref_id' },
  },
  repeats: 'skip',
}

/** What `review` has of a project. The milestones, labels and issues of the project come before, notes after. */
export const reviewRelations: readonly Relation[] = [
  mergeRequests,
  versions,
  commits,
  people('merge_request_committers'),
  people('approvals', { created_at: moment }),
  people('approvers'),
  ...closings,
  settings,
  rules,
  ...ruleParts('approval_rules', ofProject),
  branches,
  rulesOfMergeRequests,
  ...ruleParts('merge_request_approval_rules', ofMergeRequests),
]

/** What `review` has of groups: the rules for approvals in projects below them. */
export const reviewOfGroups: readonly Relation[] = [
  {
    name: 'approval_rules',
    table: 'approval_rules',
    from: raw('from approval_rules t join namespaces n on n.id = t.group_id'),
    where: ({ id }) => sql`t.group_id in (${groupsBelow(id)})`,
    order: [...groupOrder, 't.id'],
    columns: { group: { ...partOf('groups'), column: 'group_id' }, ...ruleColumns },
    hasId: true,
    // Which all rules of groups do.
    amend: (record, amending) => ({
      ...withoutGroups('approval_rules')(record, amending),
      applies_to_all_protected_branches: true,
    }),
  },
  {
    name: 'approval_rules_users',
    table: 'approval_rule_users',
    from: raw(`from approval_rules r join namespaces n on n.id = r.group_id
      join approval_rule_users t on t.approval_rule_id = r.id join users u on u.id = t.user_id`),
    where: ({ id }) => sql`r.group_id in (${groupsBelow(id)})`,
    order: [...groupOrder, 'r.id', { text: 'u.username' }],
    columns: { rule: { ...partOf('approval_rules'), column: 'approval_rule_id' }, ...user },
    repeats: 'skip',
  },
]
