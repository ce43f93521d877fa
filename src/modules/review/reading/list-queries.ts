import type { Caller } from '../../../access/actor.ts'
import { featureLevels, levels } from '../../../access/levels.ts'
import type { Direction, List } from '../../../api/page.ts'
import { fuzzy } from '../../../db/fuzzy.ts'
import { and, raw, type Sql, sql } from '../../../db/sql.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { projectParts, within } from '../../namespaces/index.ts'
import { openVisibility, readableMergeRequests, visibleProjects, withinLimits } from '../../projects/index.ts'
import { approvedBy, approvedWanted, type PeopleFilter } from '../approvals/queries.ts'
import { recordSelect } from '../merge-requests/record-queries.ts'
import type { MergeRequestState } from '../merge-requests/states.ts'
import { draftPattern } from '../merge-requests/title.ts'

/** Scope of a list of merge requests. */
export type MergeRequestSet =
  | { readonly of: 'everyone' }
  /** The caller may read them. */
  | { readonly of: 'project'; readonly id: number }
  | { readonly of: 'group'; readonly traversalIds: readonly number[]; readonly archived: boolean }

export const mergeRequestOrders = ['created_at', 'updated_at'] as const

/** None of them, or any. */
export type Presence = 'None' | 'Any'

/** Without such users, with any, with this one, or with all of these. */
type UserFilter = Presence | { readonly id: number } | { readonly usernames: readonly string[] }

export type MergeRequestFilters = {
  readonly state?: MergeRequestState
  readonly scope?: 'created_by_me' | 'assigned_to_me'
  readonly labels?: Presence | readonly string[]
  readonly milestone?: Presence | 'upcoming' | 'started' | { readonly title: string } | { readonly id: number }
  readonly author?: { readonly id: number } | { readonly username: string } | 'None'
  readonly assignee?: UserFilter
  readonly reviewer?: UserFilter
  readonly approvers?: PeopleFilter
  readonly approvedBy?: PeopleFilter
  /** Awarded by the caller. */
  readonly reaction?: Presence | { readonly name: string }
  readonly sourceBranch?: string
  readonly targetBranch?: string
  readonly sourceProjectId?: number
  readonly search?: { readonly text: string; readonly in: readonly ('title' | 'description')[] }
  readonly draft?: boolean
  readonly iids?: readonly number[]
  readonly ids?: readonly number[]
  readonly createdAfter?: Date
  readonly createdBefore?: Date
  readonly updatedAfter?: Date
  readonly updatedBefore?: Date
  /** The newest version contains this commit, or it is the commit of the merge. */
  readonly commit?: Oid
}

export type MergeRequestOrder = { readonly by: (typeof mergeRequestOrders)[number]; readonly sort: Direction }

const inSet = (caller: Caller, set: MergeRequestSet, parts: List['parts']): Sql[] => {
  if (set.of === 'project') return [sql`m.project_id = ${set.id}`]
  if (parts)
    return [
      raw('not p.deleting'),
      sql`p.merge_requests_access_level > ${featureLevels.disabled}`,
      ...(caller?.limits ? [withinLimits(caller)] : []),
    ]
  const readable = [raw('not p.deleting'), visibleProjects(caller), readableMergeRequests(caller)]
  if (set.of === 'everyone') return readable
  const inside = sql`
    p.namespace_id = any(
      array(select d.id from namespaces d where ${within(raw('d.traversal_ids'), sql`${set.traversalIds}::bigint[]`)})
    )
  `
  return [inside, ...readable, ...(set.archived ? [] : [raw('not p.archived')])]
}

/** Whether rows exist, or do not, as requested. */
const present = (filter: Presence, rows: Sql): Sql =>
  filter === 'Any' ? sql`exists (${rows})` : sql`not exists (${rows})`

const labels = raw('select from merge_request_labels ml where ml.merge_request_id = m.id')

/** A label with that title, case-insensitive. */
const labelled = (title: string): Sql =>
  sql`
    m.id in (
      select ml.merge_request_id
      from merge_request_labels ml join labels l on l.id = ml.label_id
      where lower(l.title) = lower(${title})
    )
  `

/** Tables of users of merge requests. */
type People = 'merge_request_assignees' | 'merge_request_reviewers'

const having = (table: People, userIds: Sql): Sql =>
  sql`m.id in (select a.merge_request_id from ${raw(table)} a where a.user_id in (${userIds}))`

const userNamed = (username: string): Sql => sql`select u.id from users u where lower(u.username) = lower(${username})`

function ofMilestone(filter: NonNullable<MergeRequestFilters['milestone']>): Sql {
  if (filter === 'None') return raw('m.milestone_id is null')
  if (filter === 'Any') return raw('m.milestone_id is not null')
  const among = (milestones: Sql) => sql`m.milestone_id in (${milestones})`
  if (filter === 'started')
    return among(raw(`select ms.id from milestones ms where ms.state = 'active' and ms.start_date < current_date`))
  if (filter === 'upcoming')
    return among(
      raw(`select distinct on (ms.project_id, ms.namespace_id) ms.id from milestones ms
        where ms.state = 'active' and ms.due_date > current_date order by ms.project_id, ms.namespace_id, ms.due_date, ms.id`),
    )
  if ('id' in filter) return sql`m.milestone_id = ${filter.id}`
  return among(sql`select ms.id from milestones ms where ms.title = ${filter.title}`)
}

function byAuthor(filter: NonNullable<MergeRequestFilters['author']>): Sql {
  if (filter === 'None') return raw('false')
  return 'id' in filter ? sql`m.author_id = ${filter.id}` : sql`m.author_id = (${userNamed(filter.username)})`
}

function byPeople(table: People, filter: UserFilter): Sql[] {
  if (typeof filter === 'string')
    return [present(filter, sql`select from ${raw(table)} a where a.merge_request_id = m.id`)]
  if ('id' in filter) return [having(table, sql`select ${filter.id}::bigint`)]
  return filter.usernames.map((username) => having(table, userNamed(username)))
}

function byReaction(caller: Caller, filter: NonNullable<MergeRequestFilters['reaction']>): Sql {
  if (caller === null) return raw('false')
  const mine = sql`
    select from award_emoji e where e.merge_request_id = m.id and e.note_id is null and e.user_id = ${caller.id}
  `
  return typeof filter === 'string' ? present(filter, mine) : sql`exists (${mine} and e.name = ${filter.name})`
}

const byScope = (caller: Caller, scope: NonNullable<MergeRequestFilters['scope']>): Sql => {
  if (caller === null) return raw('false')
  return scope === 'created_by_me'
    ? sql`m.author_id = ${caller.id}`
    : having('merge_request_assignees', sql`select ${caller.id}::bigint`)
}

/** The newest version contains the commit, or it is the commit of the merge. */
const withCommit = (commit: Oid): Sql => sql`
  m.id = any(
    array(
      select n.id from merge_request_commits c join merge_requests n on n.diff_id = c.diff_id where c.oid = ${commit}
      union select n.id from merge_requests n where n.merge_commit_oid = ${commit}
      union select n.id from merge_requests n where n.squash_commit_oid = ${commit}
    )
  )
`

/** Records show milliseconds, but stored times are more precise: a time counts as before its displayed value. */
const after = (time: Date): Date => new Date(time.getTime() + 1)

function conditions(caller: Caller, f: MergeRequestFilters): Sql[] {
  const where: Sql[] = []
  if (f.scope) where.push(byScope(caller, f.scope))
  if (f.author !== undefined) where.push(byAuthor(f.author))
  if (f.assignee !== undefined) where.push(...byPeople('merge_request_assignees', f.assignee))
  if (f.reviewer !== undefined) where.push(...byPeople('merge_request_reviewers', f.reviewer))
  if (f.state) where.push(sql`m.state = ${f.state}`)
  if (typeof f.labels === 'string') where.push(present(f.labels, labels))
  else where.push(...(f.labels ?? []).map(labelled))
  if (f.milestone !== undefined) where.push(ofMilestone(f.milestone))
  if (f.approvers !== undefined) where.push(approvedWanted(raw('m.id'), f.approvers))
  if (f.approvedBy !== undefined) where.push(approvedBy(raw('m.id'), f.approvedBy))
  if (f.reaction !== undefined) where.push(byReaction(caller, f.reaction))
  if (f.sourceBranch !== undefined) where.push(sql`m.source_branch = ${f.sourceBranch}`)
  if (f.targetBranch !== undefined) where.push(sql`m.target_branch = ${f.targetBranch}`)
  if (f.sourceProjectId !== undefined) where.push(sql`m.source_project_id = ${f.sourceProjectId}`)
  if (f.search?.text.trim())
    where.push(
      fuzzy(
        f.search.text,
        f.search.in.map((column) => `m.${column}`),
      ),
    )
  if (f.draft !== undefined) where.push(sql`(m.title ~* ${draftPattern}) = ${f.draft}`)
  if (f.iids !== undefined) where.push(sql`m.iid = any(${f.iids}::bigint[])`)
  if (f.ids !== undefined) where.push(sql`m.id = any(${f.ids}::bigint[])`)
  if (f.createdAfter) where.push(sql`m.created_at >= ${f.createdAfter}`)
  if (f.createdBefore) where.push(sql`m.created_at < ${after(f.createdBefore)}`)
  if (f.updatedAfter) where.push(sql`m.updated_at >= ${f.updatedAfter}`)
  if (f.updatedBefore) where.push(sql`m.updated_at < ${after(f.updatedBefore)}`)
  if (f.commit) where.push(withCommit(f.commit))
  return where
}

/** Filters that leave few merge requests: these are checked one by one. */
const leavesFew = (f: MergeRequestFilters): boolean =>
  [f.scope, f.author, f.search, f.sourceBranch, f.sourceProjectId, f.iids, f.commit, f.reaction].some(
    (filter) => filter !== undefined,
  ) || [f.assignee, f.reviewer, f.approvedBy, f.milestone].some((filter) => filter !== undefined && filter !== 'None')

/**
 * The merge requests of projects that are open to the caller, and those of the caller's projects: `visibleProjects` and
 * `readableMergeRequests` in parts.
 */
function partsOf(caller: Caller, set: MergeRequestSet, filters: MergeRequestFilters): List['parts'] {
  if (caller === null || caller.admin || set.of !== 'everyone' || leavesFew(filters)) return undefined
  const open = openVisibility(caller)
  const audience = sql`m.audience >= ${open}`
  const everyones = sql`
    ${audience} and p.visibility >= ${open} and p.merge_requests_access_level >= ${featureLevels.enabled}
  `
  const counted = { from: raw('from merge_requests m'), where: and([audience, ...conditions(caller, filters)]) }
  const mine = projectParts(caller, levels.reporter, raw('p.id'), raw('p.namespace_id'))
  return [
    { where: everyones, ...(!caller.limits && { counted }) },
    ...mine.map((part) => ({ where: sql`m.audience < ${open} and ${part}`, few: true })),
  ]
}

/** Merge requests that the caller may read, newest first unless `sort` is set; ties by id, newest first. */
export function listMergeRequests(
  caller: Caller,
  set: MergeRequestSet,
  filters: MergeRequestFilters,
  { by, sort }: MergeRequestOrder,
): List {
  const parts = partsOf(caller, set, filters)
  return {
    type: 'MergeRequest',
    cached: true,
    select: recordSelect(caller),
    from:
      set.of === 'project'
        ? raw('from merge_requests m')
        : raw('from merge_requests m join projects p on p.id = m.project_id'),
    key: raw('m.id'),
    where: [...inSet(caller, set, parts), ...conditions(caller, filters)],
    parts,
    order: [
      { by: raw(`m.${by}`), direction: sort },
      { by: raw('m.id'), direction: 'desc' },
    ],
  }
}
