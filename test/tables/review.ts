import type { World } from '../world.ts'
import { add, addAll, ago, change, find, remove, type Value } from './statements.ts'

/** Changes one merge request or several. */
export const changeMergeRequest = (
  world: World,
  id: number | readonly number[],
  values: {
    readonly [column in
      | 'approvals_before_merge'
      | 'author_id'
      | 'checking_since'
      | 'discussion_locked'
      | 'merge_commit_oid'
      | 'merge_status'
      | 'merge_status_source_oid'
      | 'merge_status_target_oid'
      | 'rebasing'
      | 'state'
      | 'title']?: Value
  },
) => change(world, 'merge_requests', { id }, values)

/** Deletes the row itself, without what follows. */
export const deleteMergeRequest = (world: World, id: number) => remove(world, 'merge_requests', { id })

export const storedMergeStatus = (world: World, id: number) => find(world, 'merge_requests', { id }, ['merge_status'])

export const mergeRequestsOf = (world: World, project_id: number) =>
  find(world, 'merge_requests', { project_id }, ['iid'])

/** Closed merge requests of a project, with these numbers and all between them, without changes. */
export const addClosedMergeRequests = (world: World, projectId: number, first: number, last: number) =>
  world.rows(
    `with made as (
        insert into merge_requests (iid, project_id, target_branch, source_project_id, source_branch, title, author_id, state, diff_id)
        select n, $1, 'main', $1, 'b' || n, 'x', 1, 'closed', nextval(pg_get_serial_sequence('merge_request_diffs', 'id'))
        from generate_series($2::integer, $3::integer) n
        returning id, diff_id
      )
      insert into merge_request_diffs (id, merge_request_id, state) select diff_id, id, 'empty' from made`,
    [projectId, first, last],
  )

/** Versions of a merge request in their order. */
export const versionsOf = (world: World, merge_request_id: number) =>
  find(world, 'merge_request_diffs', { merge_request_id }, ['head_oid', 'commits'], 'id')

/** The latest version of a merge request. */
export const latestVersion = (world: World, id: number) =>
  world.rows('select d.head_oid from merge_requests m join merge_request_diffs d on d.id = m.diff_id where m.id = $1', [
    id,
  ])

/** The versions name a commit that does not exist. */
export const breakVersions = (world: World, merge_request_id: number) =>
  change(world, 'merge_request_diffs', { merge_request_id }, { head_oid: 'broken' })

/** Commits that apply suggestions of a merge request and are not settled. */
export const suggestionCommitsOf = (world: World, merge_request_id: number) =>
  find(world, 'suggestion_commits', { merge_request_id }, ['commit_oid'])

/** The commits that apply suggestions of a merge request were stored long ago. */
export const ageSuggestionCommits = (world: World, merge_request_id: number) =>
  change(world, 'suggestion_commits', { merge_request_id }, { created_at: ago('5 minutes') })

export const addApproval = (world: World, merge_request_id: number, user_id: number) =>
  add(world, 'approvals', { merge_request_id, user_id })

export const addApprover = (world: World, merge_request_id: number, user_id: number) =>
  add(world, 'approvers', { merge_request_id, user_id })

export const approvalsOf = (world: World, merge_request_id: number) => find(world, 'approvals', { merge_request_id })

/** A rule of a merge request that requires one approval. */
export const addApprovalRule = (world: World, merge_request_id: number) =>
  add(world, 'approval_rules', { merge_request_id, name: 'x', rule_type: 'regular', approvals_required: 1 })

/** Rules of a project that require no approval. */
export const addApprovalRules = (world: World, projectId: number, count: number) =>
  world.rows(
    `insert into approval_rules (project_id, name, rule_type, approvals_required)
      select $1, 'rule ' || n, 'regular', 0 from generate_series(1, $2::integer) n`,
    [projectId, count],
  )

export const addThumbsUp = (world: World, merge_request_id: number, user_id: number) =>
  add(world, 'award_emoji', { merge_request_id, user_id, name: 'thumbsup' })

/** Rows of a table that belong to a merge request. */
export const rowsOfMergeRequest = (world: World, table: string, id: number) =>
  world.rows(`select from ${table} where merge_request_id = $1`, [id])

/** Two milestones, of the merge requests 1 and 2 of a project: the first began yesterday, the second has no start. */
export const addMilestones = (world: World, projectId: number) =>
  world.rows(
    `with made as (
       insert into milestones (project_id, iid, title, start_date, due_date)
       values ($1, 1, '1.0', current_date - 1, current_date + 1), ($1, 2, '2.0', null, current_date + 9)
       returning id, iid)
     update merge_requests m set milestone_id = made.id from made where m.project_id = $1 and m.iid = made.iid`,
    [projectId],
  )

export const addLabel = (world: World, project_id: number) =>
  add(world, 'labels', { project_id, title: 'bug', color: '#ff0000' })

/** A label without priorities and without merge requests. */
export const clearLabel = async (world: World, label_id: number) => {
  await remove(world, 'merge_request_labels', { label_id })
  await remove(world, 'label_priorities', { label_id })
}

/** Whether a title matches the pattern as PostgreSQL understands it, as `found`. */
export const matchesPattern = (world: World, title: string, pattern: string) =>
  world.rows('select $1::text ~* $2 as found', [title, pattern])

/** Changes the target branch in the row of a merge request and nowhere else. */
export const retarget = (world: World, id: number, branch: string) =>
  world.rows('update merge_requests set target_branch = $2 where id = $1', [id, branch])

export type NewMergeRequestRow = {
  readonly iid: number
  readonly project_id: number
  readonly source_project_id: number
  readonly source_branch: string
  readonly target_branch: string
  readonly title: string
  readonly description: string
  readonly author_id: number
  readonly state: 'opened' | 'closed' | 'locked' | 'merged'
  readonly milestone_id: number | null
  readonly created_at: string
  readonly updated_at: string
}

/** Merge requests without changes, which cannot be merged; returns their ids in the same order. */
export async function addMergeRequests(world: World, rows: readonly NewMergeRequestRow[]): Promise<number[]> {
  const columns =
    'iid, project_id, source_project_id, source_branch, target_branch, title, description, author_id, state, milestone_id, created_at, updated_at'
  const made = await world.rows(
    `insert into merge_requests (${columns}, merge_status, diff_id)
      select ${columns}, 'cannot_be_merged', null from json_populate_recordset(null::merge_requests, $1) returning id`,
    [JSON.stringify(rows)],
  )
  await world.rows(
    `with versions as (
        insert into merge_request_diffs (merge_request_id, state) select unnest($1::bigint[]), 'empty'
        returning id, merge_request_id
      )
      update merge_requests m set diff_id = versions.id from versions where m.id = versions.merge_request_id`,
    [made.map(({ id }) => id)],
  )
  return made.map(({ id }) => Number(id))
}

/** Users with a task in merge requests, or who have approved them. */
export const addMergeRequestPeople = (
  world: World,
  table: 'approvals' | 'approvers' | 'merge_request_assignees' | 'merge_request_reviewers',
  rows: readonly { merge_request_id: number; user_id: number }[],
) => addAll(world, table, ['merge_request_id', 'user_id'], rows)

export const addMergeRequestLabels = (world: World, rows: readonly { merge_request_id: number; label_id: number }[]) =>
  addAll(world, 'merge_request_labels', ['merge_request_id', 'label_id'], rows)

export const addMergeRequestAwards = (
  world: World,
  rows: readonly { merge_request_id: number; user_id: number; name: string }[],
) => addAll(world, 'award_emoji', ['merge_request_id', 'user_id', 'name'], rows)
