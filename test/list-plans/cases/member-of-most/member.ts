import { userId } from '../../../../bench/world.ts'
import { actor } from '../../callers.ts'
import { client } from '../../seeded.ts'

/** A member of all groups, and with them of most projects. */
export const member = actor(userId(500))

/** Issues in all projects, of which all but one are open to the readers of the project. */
export async function addMemberships(): Promise<void> {
  await client.query(
    `insert into group_access (user_id, group_id, level, expires_on)
    select $1, id, 30, 'infinity' from namespaces where kind = 'group' on conflict do nothing`,
    [member.id],
  )
  await client.query('set session_replication_role = replica')
  await client.query(`
    insert into issues (iid, project_id, title, author_id, confidential, audience, created_at, updated_at)
    select 1000000 + k, p.id, 'Issue', 1, k = 1,
      case when k = 1 then 0 else audience_of_merge_requests(p.visibility, p.issues_access_level, p.deleting) end,
      timestamptz '2020-01-01' + (hashint8(p.id * 6 + k) % 1000000) * interval '1 minute',
      timestamptz '2022-01-01' + (hashint8(p.id * 7 + k) % 1000000) * interval '1 minute'
    from projects p, generate_series(1, 5) k`)
  await client.query(`
    insert into issue_updates (id, project_id, author_id, state, confidential, audience, updated_at)
    select id, project_id, author_id, state, confidential, audience, updated_at from issues on conflict do nothing`)
  await client.query(`
    with common as (
      insert into labels (namespace_id, title, color)
      select id, 'common', '#336699' from namespaces where kind = 'group' order by id limit 1 returning id
    )
    insert into issue_labels (issue_id, label_id, noteable_state, noteable_audience)
    select m.id, common.id, m.state, m.audience from issues m, common where m.iid > 1000000`)
  await client.query('delete from issue_counts')
  await client.query(`
    insert into issue_counts (project_id, opened, confidential, closed, closed_confidential)
    select project_id, count(*) filter (where state = 'opened'), count(*) filter (where state = 'opened' and confidential),
      count(*) filter (where state = 'closed'), count(*) filter (where state = 'closed' and confidential)
    from issues group by project_id`)
  await client.query(`delete from audience_counts where type = 'Issue'`)
  await client.query(`
    insert into audience_counts (type, audience, state, number)
    select 'Issue', audience, state, count(*) from issues where audience > 0 group by audience, state`)
  await client.query('set session_replication_role = origin')
  await client.query('vacuum analyze group_access, issues, issue_updates, issue_labels, issue_counts, audience_counts')
}
