import type pg from 'pg'
import { userId } from '../../bench/world.ts'

/** An issue for each merge request; one of ten is confidential. */
export async function seedIssues(client: pg.Client): Promise<void> {
  await client.query(`
    insert into issues (iid, project_id, title, author_id, state, confidential, milestone_id, created_at, updated_at)
    select iid, project_id, title, author_id, case when state = 'opened' then 'opened' else 'closed' end, id % 10 = 3, milestone_id,
      created_at, updated_at
    from merge_requests`)
  await client.query(`
    insert into issue_assignees (issue_id, user_id)
    select m.id, a.user_id from merge_request_assignees a join merge_requests r on r.id = a.merge_request_id
      join issues m on m.project_id = r.project_id and m.iid = r.iid`)
  await client.query(`
    insert into issue_labels (issue_id, label_id)
    select m.id, a.label_id from merge_request_labels a join merge_requests r on r.id = a.merge_request_id
      join issues m on m.project_id = r.project_id and m.iid = r.iid`)
  await client.query(
    `
    insert into award_emoji (issue_id, user_id, name)
    select id, $1 + id % 7, 'thumbsup' from issues where id % 3 = 0 or id % 7 = 0`,
    [userId(1)],
  )
  // The label of few issues, in few of the projects.
  await client.query(`
    insert into label_priorities (project_id, label_id, priority)
    select distinct m.project_id, il.label_id, m.project_id % 4
    from issues m join issue_labels il on il.issue_id = m.id where m.project_id % 5 = 0`)
  await client.query(`
    with rare as (
      insert into labels (namespace_id, title, color)
      select id, 'rare', '#ff0000' from namespaces where kind = 'group' and parent_id is null order by id limit 1
      returning id)
    insert into issue_labels (issue_id, label_id) select m.id, rare.id from issues m, rare where m.id % 400 = 7`)
  // The label of all, another one in each group without a parent and in each project of a user.
  await client.query(`
    insert into labels (namespace_id, title, color)
    select id, 'Everywhere', '#00ff00' from namespaces where kind = 'group' and parent_id is null`)
  await client.query(`
    insert into labels (project_id, title, color)
    select p.id, 'Everywhere', '#00ff00'
    from projects p join namespaces n on n.id = p.namespace_id
    where n.kind = 'user' and (exists (select from issues where project_id = p.id) or exists (select from merge_requests where project_id = p.id))`)
  for (const [what, table] of [
    ['issue', 'issues'],
    ['merge_request', 'merge_requests'],
  ])
    await client.query(`
      insert into ${what}_labels (${what}_id, label_id)
      select m.id, l.id
      from ${table} m join projects p on p.id = m.project_id join namespaces n on n.id = p.namespace_id
        join labels l on l.title = 'Everywhere' and (l.project_id = p.id or l.namespace_id = n.traversal_ids[1])`)
  await client.query('update issues set relative_position = id % 1000 where id % 2 = 0')
  // Hundreds have the label "label 9"; of these, all but a few are closed.
  await client.query(`update issues set state = 'opened' where id % 10 = 8 and id % 50 = 18`)
  // All rows are sampled, so that plans are the same in each run.
  await client.query('set default_statistics_target = 1000')
  await client.query('vacuum analyze')
}
