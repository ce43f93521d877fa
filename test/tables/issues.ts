import type { Tx } from '../../src/db/db.ts'
import { raw, sql } from '../../src/db/sql.ts'
import type { World } from '../world.ts'
import { addAll, change, find, remove, type Value } from './statements.ts'

export type NewIssueRow = {
  readonly iid: number
  readonly project_id: number
  readonly title: string
  readonly description: string
  readonly author_id: number
  readonly state: 'opened' | 'closed'
  readonly confidential: boolean
  readonly milestone_id: number | null
  readonly due_date: string | null
  readonly weight: number | null
  readonly relative_position: number | null
  readonly created_at: string
  readonly updated_at: string
}

export const addIssues = (world: World, rows: readonly NewIssueRow[]) =>
  addAll(
    world,
    'issues',
    [
      ...[
        'iid',
        'project_id',
        'title',
        'description',
        'author_id',
        'state',
        'confidential',
        'milestone_id',
        'due_date',
      ],
      ...['weight', 'relative_position', 'created_at', 'updated_at'],
    ],
    rows,
  )

export const addIssueAssignees = (world: World, rows: readonly { issue_id: number; user_id: number }[]) =>
  addAll(world, 'issue_assignees', ['issue_id', 'user_id'], rows)

export const addIssueLabels = (world: World, rows: readonly { issue_id: number; label_id: number }[]) =>
  addAll(world, 'issue_labels', ['issue_id', 'label_id'], rows)

export const addIssueAwards = (world: World, rows: readonly { issue_id: number; user_id: number; name: string }[]) =>
  addAll(world, 'award_emoji', ['issue_id', 'user_id', 'name'], rows)

/** Labels of a project or a group. */
export const addLabels = (
  world: World,
  rows: readonly { project_id?: number; namespace_id?: number; title: string; color: string }[],
) => addAll(world, 'labels', ['project_id', 'namespace_id', 'title', 'color'], rows)

export const addLabelPriorities = (
  world: World,
  rows: readonly { project_id: number; label_id: number; priority: number }[],
) => addAll(world, 'label_priorities', ['project_id', 'label_id', 'priority'], rows)

/** Milestones of a project or a group. */
export const addDatedMilestones = (
  world: World,
  rows: readonly {
    iid: number
    project_id?: number
    namespace_id?: number
    title: string
    state: 'active' | 'closed'
    start_date: string | null
    due_date: string | null
  }[],
) =>
  addAll(
    world,
    'milestones',
    ['iid', 'project_id', 'namespace_id', 'title', 'state', 'start_date', 'due_date'],
    rows.map((row) => ({ ...row })),
  )

/** Changes one issue or several. */
export const changeIssue = (
  world: World,
  id: number | readonly number[],
  values: { readonly [column in 'confidential' | 'state' | 'description']?: Value },
) => change(world, 'issues', { id }, values)

/** Deletes the rows themselves, without what follows. */
export const deleteIssues = (world: World, id: readonly number[]) => remove(world, 'issues', { id })

export const unassignIssue = (world: World, issue_id: number) => remove(world, 'issue_assignees', { issue_id })

/** The stored numbers of open issues of a project. */
export const issueCountsOf = (world: World, project_id: number) => find(world, 'issue_counts', { project_id })

/** Inserts an issue by the first administrator in a transaction. */
export const insertIssueIn = (tx: Tx, projectId: number, iid: number, state: 'opened' | 'closed' = 'opened') =>
  tx.run(
    sql`insert into issues (iid, project_id, title, author_id, state) values (${iid}, ${projectId}, 'x', 1, ${state})`,
  )

/** Gives an issue or merge request a label in a transaction. */
export const labelIn = (tx: Tx, what: 'issue' | 'merge_request', id: number, labelId: number) =>
  tx.run(sql`insert into ${raw(`${what}_labels`)} (${raw(`${what}_id`)}, label_id) values (${id}, ${labelId})`)

export const assignMilestone = (world: World, project_id: number, milestone_id: number) =>
  change(world, 'issues', { project_id }, { milestone_id })

/** Ids of the issues of a project whose columns by which lists are ordered differ from what they are copies of. */
export async function staleOrderCopies(world: World, projectId: number): Promise<number[]> {
  const rows = await world.rows(
    `select m.id
    from issues m
    where m.project_id = $1 and (
      m.milestone_due is distinct from (select ms.due_date from milestones ms where ms.id = m.milestone_id)
      or m.upvotes <> (
        select count(*) from award_emoji a where a.issue_id = m.id and a.note_id is null and a.name = 'thumbsup'
      )
      or m.label_priority is distinct from (
        select min(lp.priority) from issue_labels il
          join label_priorities lp on lp.label_id = il.label_id and lp.project_id = m.project_id
        where il.issue_id = m.id
      )
    )`,
    [projectId],
  )
  return rows.map(({ id }) => Number(id))
}

/** Rows of labels of issues and merge requests whose copies of the state and audience differ from these. */
export const staleLabelCopies = async (world: World): Promise<unknown[]> =>
  world.rows(
    `select il.* from issue_labels il join issues m on m.id = il.issue_id
    where (il.noteable_state, il.noteable_audience) is distinct from (m.state, m.audience)
    union all
    select ml.* from merge_request_labels ml join merge_requests m on m.id = ml.merge_request_id
    where (ml.noteable_state, ml.noteable_audience) is distinct from (m.state, m.audience)`,
  )

/** The numbers in `issue_counts` of these projects, and those of the issues themselves. */
export const projectNumbers = async (world: World, ids: readonly number[]) => {
  const [kept, counted] = await Promise.all([
    world.rows(
      `
      select project_id, opened, confidential, closed, closed_confidential from issue_counts
      where project_id = any($1) and (opened, closed) <> (0, 0) order by project_id
    `,
      [ids],
    ),
    world.rows(
      `
      select project_id, count(*) filter (where state = 'opened')::integer as opened,
        count(*) filter (where state = 'opened' and confidential)::integer as confidential,
        count(*) filter (where state = 'closed')::integer as closed,
        count(*) filter (where state = 'closed' and confidential)::integer as closed_confidential
      from issues where project_id = any($1) group by project_id order by project_id
    `,
      [ids],
    ),
  ])
  return { kept, counted }
}

/** How many noteables, projects and groups there are by audience and state: as `audience_counts` says, and as counted now. */
export const audienceNumbers = async (world: World) => {
  const [kept, counted] = await Promise.all([
    world.rows(`
      select type, audience, state, sum(number)::integer as number from audience_counts
      group by type, audience, state having sum(number) <> 0 order by 1, 2, 3
    `),
    world.rows(`
      select 'Issue' as type, audience, state, count(*)::integer as number from issues where audience > 0 group by audience, state
      union all
      select 'MergeRequest', audience, state, count(*)::integer from merge_requests where audience > 0 group by audience, state
      union all
      select 'Project', visibility, case when archived then 'archived' else 'active' end, count(*)::integer
      from projects where visibility > 0 and not deleting group by visibility, archived
      union all
      select 'Group', visibility, 'active', count(*)::integer
      from namespaces where kind = 'group' and visibility > 0 and not deleting group by visibility
      order by 1, 2, 3
    `),
  ])
  return { kept, counted }
}

/** How many rows add up to the numbers by audience. */
export const audienceRows = async (world: World): Promise<number> =>
  (await world.rows('select count(*)::integer as number from audience_counts'))[0]!.number

/** Rows of times of updates and activity that differ from those of which they are copies; one is missing with each null. */
export const staleUpdates = async (world: World): Promise<unknown[]> =>
  world.rows(
    `select m.id as issue_id, u.*
    from issues m full join issue_updates u on u.id = m.id
    where (u.project_id, u.author_id, u.state, u.confidential, u.audience, u.updated_at)
      is distinct from (m.project_id, m.author_id, m.state, m.confidential, m.audience, m.updated_at)
    union all
    select m.id, u.id, u.project_id, null, u.state, null, u.audience, u.updated_at
    from merge_requests m full join merge_request_updates u on u.id = m.id
    where (u.project_id, u.state, u.audience, u.updated_at) is distinct from (m.project_id, m.state, m.audience, m.updated_at)
    union all
    select p.id, u.id, u.id, null, null, u.deleting, u.visibility, u.last_activity_at
    from projects p full join project_activity u on u.id = p.id
    where (u.visibility, u.archived, u.deleting, u.last_activity_at)
      is distinct from (p.visibility, p.archived, p.deleting, p.last_activity_at)`,
  )

/** Locks an issue until the transaction ends. */
export const lockIssue = (tx: Tx, projectId: number, iid: number): Promise<number> =>
  tx.run(sql`select from issues where project_id = ${projectId} and iid = ${iid} for update`)

/** The audiences of the issues of a project that are not for members only, with their numbers. */
export const audiencesIn = (world: World, projectId: number): Promise<{ audience: number; number: number }[]> =>
  world.rows(
    'select audience, count(*)::integer as number from issues where project_id = $1 and audience > 0 group by audience order by audience',
    [projectId],
  )
