import type pg from 'pg'
import type { Size } from './sizes.ts'
import { repositoryIssues, repositoryProject, userId } from './world.ts'

/** Issues of many projects, many of them in the project with the repository: with labels, milestones, assignees and notes. */
export async function seedIssues(client: pg.Client, size: Size): Promise<void> {
  await withoutIndexes(client, ['issues', 'issue_updates', 'notes', 'issue_labels', 'issue_assignees'], async () => {
    // Triggers and foreign keys would take most of the time. What triggers keep up is written below.
    await client.query('set local session_replication_role = replica')
    await client.query(`
      insert into issues (id, iid, project_id, title, description, author_id, state, confidential, milestone_id, due_date, weight,
        time_estimate, closed_at, closed_by_id, audience, milestone_due, created_at, updated_at)
      select n, row_number() over (partition by p.id order by n), p.id,
        'The ' || left(md5((n % 7000)::text), 8) || ' of ' || left(md5((n % 311)::text), 6) || ' is wrong',
        'It should be ' || md5((n % 50000)::text) || ' instead.' || E'\\n\\n- [x] seen\\n- [ ] understood',
        ${userId(1)} + (n::bigint * 13) % ${size.users}, s.state, s.confidential, m.id,
        case when n % 5 = 0 then date '2022-01-01' + n % 3000 end, case when n % 4 = 0 then n % 10 end, 1800 * (n % 5),
        case when s.state = 'closed' then t.at + interval '2 days' end,
        case when s.state = 'closed' then ${userId(1)} + (n::bigint * 5) % ${size.users} end,
        case when s.confidential then 0 else audience_of_merge_requests(p.visibility, p.issues_access_level, p.deleting) end,
        m.due_date, t.at, t.at + interval '3 days'
      from generate_series(1, ${size.issues}) n
      cross join lateral (select timestamptz '2021-01-01' + n * interval '1 minute' as at) t
      cross join lateral (
        select case when n % 10 < 6 then 'closed' else 'opened' end as state, n % 50 = 11 as confidential) s
      join projects p on p.id = case when n <= ${repositoryIssues(size)} then ${repositoryProject}
        else 1 + (n::bigint * 7919) % ${size.projects} end
      left join milestones m on m.project_id = p.id and n % 2 = 0
      order by n`)
    await client.query(`
      insert into issue_updates (id, project_id, author_id, state, confidential, audience, updated_at)
      select id, project_id, author_id, state, confidential, audience, updated_at from issues`)
    await client.query(`
      insert into issue_counts (project_id, opened, confidential, closed, closed_confidential)
      select project_id, count(*) filter (where state = 'opened'), count(*) filter (where state = 'opened' and confidential),
        count(*) filter (where state = 'closed'), count(*) filter (where state = 'closed' and confidential)
      from issues group by 1`)
    await client.query(`
      insert into audience_counts (type, audience, state, number)
      select 'Issue', audience, state, count(*) from issues where audience > 0 group by audience, state`)
    await client.query(
      `insert into internal_ids (project_id, what, last) select project_id, 'issues', max(iid) from issues group by 1`,
    )
    await client.query(`
      insert into issue_assignees (issue_id, user_id)
      select id, ${userId(1)} + (id * 17) % ${size.users} from issues where id % 3 > 0`)
    await client.query(`
      insert into issue_labels (issue_id, label_id, noteable_state, noteable_audience)
      select m.id, l.id, m.state, m.audience from issues m join projects p on p.id = m.project_id join namespaces n on n.id = p.namespace_id
      join labels l on l.namespace_id = n.traversal_ids[1] and l.title in ('label ' || 1 + m.id % 10, 'label ' || 1 + (m.id * 7) % 10)`)
    await client.query(`
      insert into notes (project_id, issue_id, author_id, discussion_id, threaded, system, body, created_at, updated_at)
      select m.project_id, m.id, ${userId(1)} + (m.id * 7 + k) % ${size.users}, md5(m.id || ' ' || k / 2) || 'deadbeef', k > 1, k = 0,
        case when k = 0 then 'changed the description' else 'What about ' || left(md5((m.id % 9000 + k)::text), 8) || '? It is the same.' end,
        m.created_at + k * interval '1 hour', m.created_at + k * interval '1 hour'
      from issues m, generate_series(0, 4) k`)
    await client.query(
      'insert into comment_counts (number) select count(*) from notes where issue_id is not null and not system',
    )
    await client.query('set local session_replication_role = origin')
  })
  await client.query(`
    insert into award_emoji (issue_id, user_id, name)
    select id, ${userId(1)} + (id * 11) % ${size.users}, case when id % 7 = 0 then 'thumbsdown' else 'thumbsup' end from issues where id % 20 < 2`)
  await client.query(`
    insert into time_logs (issue_id, user_id, seconds)
    select id, ${userId(1)} + (id * 11) % ${size.users}, 900 from issues where id % 10 = 0`)
  await client.query(`select setval(pg_get_serial_sequence('issues', 'id'), (select max(id) from issues))`)
}

/** Drops the indexes that no constraint needs, and creates them again afterwards, which is several times as fast. */
async function withoutIndexes(client: pg.Client, tables: readonly string[], fill: () => Promise<void>): Promise<void> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
    from pg_index i
    where i.indrelid = any($1::text[]::regclass[]) and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`,
    [tables],
  )
  for (const { name } of rows) await client.query(`drop index ${name}`)
  await fill()
  await client.query(`set local maintenance_work_mem = '512MB'`)
  for (const { definition } of rows) await client.query(definition)
}
