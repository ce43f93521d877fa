import type pg from 'pg'
import { git } from './repository.ts'
import type { Size } from './sizes.ts'
import { repositoryMergeRequests, repositoryProject, trueMergeRequests, userId } from './world.ts'

/** A merge in the repository, as the merge request that would have led to it. */
type Merged = { merge: string; head: string; start: string; base: string; commits: string[]; files: number }

/** The last merges of `main`. */
function mergesOf(repository: string): Merged[] {
  const log = git(repository, 'log', '--merges', '--first-parent', `-${trueMergeRequests}`, '--format=%H %P', 'main')
  return log.split('\n').map((line) => {
    const [merge, start, head] = line.split(' ') as [string, string, string]
    const base = git(repository, 'merge-base', start, head)
    return {
      merge,
      head,
      start,
      base,
      commits: git(repository, 'rev-list', head, `^${start}`).split('\n'),
      files: git(repository, 'diff', '--name-only', base, head).split('\n').length,
    }
  })
}

/**
 * Seeds merge requests of many projects, part of them in the project with the repository, where the first ones match its actual
 * merges. With labels of groups and of that project, milestones, and notes.
 */
export async function seedMergeRequests(client: pg.Client, size: Size, repository?: string): Promise<void> {
  await client.query(`
    insert into labels (namespace_id, title, color)
    select g.id, 'label ' || k, '#' || left(md5(k::text), 6) from namespaces g, generate_series(1, 10) k
    where g.kind = 'group' and g.parent_id is null`)
  await client.query(`
    insert into milestones (iid, project_id, title, description, due_date)
    select 1, id, 'Milestone of ' || name, 'What is to be done by then', date '2030-01-01' from projects where id % 10 = 1`)
  await client.query(`
    insert into merge_requests (id, iid, project_id, target_branch, source_project_id, source_branch, title, description, author_id,
      state, merge_status, milestone_id, merged_by_id, merged_at, closed_by_id, closed_at, time_estimate, created_at, updated_at)
    select n, row_number() over (partition by p.id order by n), p.id, 'main', p.id, 'change-' || n,
      case when n % 20 = 0 then 'WIP: ' else '' end || 'Change what ' || left(md5((n % 5000)::text), 8) || ' does',
      'Because it was wrong before.' || E'\\n\\n- [x] written\\n- [ ] read by a reviewer', ${userId(1)} + (n * 13) % ${size.users},
      s.state, case when s.state = 'opened' then 'can_be_merged' else 'unchecked' end, m.id,
      case when s.state = 'merged' then ${userId(1)} + (n * 3) % ${size.users} end, case when s.state = 'merged' then t.at + interval '1 day' end,
      case when s.state = 'closed' then ${userId(1)} + (n * 5) % ${size.users} end, case when s.state = 'closed' then t.at + interval '2 days' end,
      3600 * (n % 5), t.at, t.at + interval '3 days'
    from generate_series(1, ${size.mergeRequests}) n
    cross join lateral (select timestamptz '2022-01-01' + n * interval '5 minutes' as at) t
    cross join lateral (select case when n <= ${trueMergeRequests} or n % 10 < 5 then 'merged' when n % 10 < 8 then 'opened' else 'closed' end as state) s
    join projects p on p.id = case when n <= ${repositoryMergeRequests} then ${repositoryProject} else 1 + (n::bigint * 7919) % ${size.projects} end
    left join milestones m on m.project_id = p.id and n % 2 = 0
    order by n`)
  await client.query(`
    insert into internal_ids (project_id, what, last) select project_id, 'merge_requests', max(iid) from merge_requests group by 1
    union all select project_id, 'milestones', max(iid) from milestones group by 1`)
  await client.query(`
    insert into merge_request_assignees (merge_request_id, user_id)
    select id, ${userId(1)} + (id * 17) % ${size.users} from merge_requests where id % 3 > 0`)
  await client.query(`
    insert into merge_request_labels (merge_request_id, label_id)
    select mr.id, l.id from merge_requests mr join projects p on p.id = mr.project_id join namespaces n on n.id = p.namespace_id
    join labels l on l.namespace_id = n.traversal_ids[1] and l.title in ('label ' || 1 + mr.id % 10, 'label ' || 1 + (mr.id * 7) % 10)`)
  await client.query(`
    insert into merge_request_diffs (id, merge_request_id, state, head_oid, start_oid, base_oid, files, commits, created_at)
    select id, id, 'collected', encode(sha256(('head' || id)::bytea), 'hex')::varchar(40), encode(sha256(('start' || id)::bytea), 'hex')::varchar(40),
      encode(sha256(('base' || id)::bytea), 'hex')::varchar(40), 3, 2, created_at from merge_requests`)
  await client.query(`
    insert into merge_request_commits (diff_id, position, oid)
    select id, k, encode(sha256(('commit' || id || ' ' || k)::bytea), 'hex')::varchar(40) from merge_request_diffs, generate_series(0, 1) k
    where id > ${trueMergeRequests}`)
  await client.query('update merge_requests set diff_id = id')
  for (const [index, { merge, head, start, base, commits, files }] of (repository === undefined
    ? []
    : mergesOf(repository)
  ).entries()) {
    await client.query(
      'update merge_request_diffs set head_oid = $2, start_oid = $3, base_oid = $4, files = $5, commits = $6 where id = $1',
      [index + 1, head, start, base, files, commits.length],
    )
    await client.query('update merge_requests set merge_commit_oid = $2 where id = $1', [index + 1, merge])
    await client.query(
      'insert into merge_request_commits (diff_id, position, oid) select $1, position - 1, oid from unnest($2::text[]) with ordinality as c (oid, position)',
      [index + 1, commits],
    )
  }
  await client.query(`
    insert into notes (project_id, merge_request_id, author_id, discussion_id, threaded, system, body, created_at, updated_at)
    select mr.project_id, mr.id, ${userId(1)} + (mr.id * 7 + k) % ${size.users}, md5(mr.id || ' ' || k / 2) || 'deadbeef', k > 1, k = 0,
      case when k = 0 then 'added 2 commits' else 'What about ' || left(md5(k::text), 8) || '? It does more than it says.' end,
      mr.created_at + k * interval '1 hour', mr.created_at + k * interval '1 hour'
    from merge_requests mr, generate_series(0, case when mr.id <= ${trueMergeRequests} then 29 else 3 end) k
    where mr.project_id = ${repositoryProject} or mr.id % 4 = 0`)
  await client.query(`
    insert into award_emoji (merge_request_id, user_id, name)
    select id, ${userId(1)} + (id * 11) % ${size.users}, case when id % 5 = 0 then 'thumbsdown' else 'thumbsup' end from merge_requests where id % 2 = 0`)
  await client.query(`
    insert into time_logs (merge_request_id, user_id, seconds)
    select id, ${userId(1)} + (id * 11) % ${size.users}, 1800 from merge_requests where id % 3 = 0`)
  for (const table of ['merge_requests', 'merge_request_diffs'])
    await client.query(`select setval(pg_get_serial_sequence('${table}', 'id'), (select max(id) from ${table}))`)
}
