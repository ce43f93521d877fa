import pg from 'pg'
import { openDatabase } from '../src/db/database.ts'
import { lockAccess, refreshGroupAccess, refreshProjectAccess } from '../src/modules/namespaces/access-index/queries.ts'
import { seedIssues } from './seed-issues.ts'
import { seedMergeRequests } from './seed-merge-requests.ts'
import type { Size } from './sizes.ts'
import { busyUser, groupId, repositoryProject, tokenOf, topGroups, userId } from './world.ts'

/** Namespaces or projects whose access is computed in one transaction. */
const batch = 1_000

type Seeding = { client: pg.Client; size: Size }

/**
 * Fills a database that has only the first administrator. The rows of a size are always the same; the application's invariants
 * hold: routes, traversal ids, full paths, statistics, and the access index, computed by its own statements. Without a repository
 * no merge request has the commits of one.
 */
export async function seed(databaseUrl: string, size: Size, repository?: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, options: '-c timezone=UTC -c synchronous_commit=off' })
  await client.connect()
  try {
    const seeding = { client, size }
    await client.query('begin')
    await seedUsers(seeding)
    await seedGroups(seeding)
    await seedProjects(seeding)
    await seedMembers(seeding)
    await seedShares(seeding)
    await seedMergeRequests(client, size, repository)
    await seedIssues(client, size)
    await advanceIds(seeding)
    await client.query('commit')
    await computeAccess(databaseUrl, client)
    await client.query('vacuum analyze')
  } finally {
    await client.end()
  }
}

/** A deterministic pseudo-random number from 0 to 1 for an ordinal; another salt gives an independent one. */
const fraction = (ordinal: string, salt: number): string =>
  `(abs(hashint8extended((${ordinal})::bigint, ${salt}) % 10007) / 10007.0)`

async function seedUsers({ client, size }: Seeding): Promise<void> {
  await client.query(`
    insert into users (id, username, name, email, bio, location, organization, job_title, public_email, created_at, updated_at, confirmed_at, last_sign_in_at, current_sign_in_at, last_activity_on)
    select ${userId(0)} + n, 'user-' || n, 'Person ' || n || ' of Many', 'user-' || n || '@example.com', 'Writes programs', 'Here', 'Example', 'Engineer', '',
      timestamptz '2019-01-01' + n * interval '1 hour', timestamptz '2019-01-01' + n * interval '2 hours', timestamptz '2019-01-02' + n * interval '1 hour',
      timestamptz '2024-01-01' + n * interval '1 minute', timestamptz '2024-02-01' + n * interval '1 minute', date '2024-02-01'
    from generate_series(1, ${size.users}) n`)
  await client.query(`
    insert into namespaces (id, kind, owner_id, traversal_ids, name, path, full_path, full_name, visibility, runners_token, created_at, updated_at)
    select u.id, 'user', u.id, array[u.id], u.name, u.username, u.username, u.name, 20, md5('namespace' || u.id)::varchar(20), u.created_at, u.created_at
    from users u where u.id > ${userId(0)}`)
  await client.query(`insert into identities (user_id, provider, extern_uid)
    select id, 'ldapmain', 'uid=' || username || ',dc=example' from users where id > ${userId(0)} and id % 5 = 0`)
  await client.query(`
    insert into access_tokens (user_id, name, digest, scopes, created_at)
    select ${userId(0)} + n, 'bench', sha256(convert_to(${client.escapeLiteral(tokenOf(0).slice(0, -1))} || n, 'UTF8')), '{api}', timestamptz '2024-01-01'
    from generate_series(1, ${size.users}) n`)
}

/** A hundred trees at size L, of six levels; each group has two subgroups, until the count is reached. */
async function seedGroups({ client, size }: Seeding): Promise<void> {
  const top = topGroups(size)
  await client.query(`
    with recursive planned as (
      select n, case when n > ${top} then 1 + (n - ${top} - 1) / 2 end as parent,
        case when n = 1 then 20 when ${fraction('n', 11)} < 0.4 then 20 when ${fraction('n', 11)} < 0.6 then 10 else 0 end as visibility
      from generate_series(1, ${size.groups}) n),
    tree as (
      select n, null::bigint as parent_id, array[${groupId(0)} + n]::bigint[] as ids, visibility, 'Group ' || n as name, 'group-' || n as path,
        'group-' || n as full_path, 'Group ' || n as full_name
      from planned where parent is null
      union all
      select p.n, ${groupId(0)} + p.parent, t.ids || (${groupId(0)} + p.n)::bigint, least(p.visibility, t.visibility), 'Group ' || p.n, 'group-' || p.n,
        t.full_path || '/group-' || p.n, t.full_name || ' / Group ' || p.n
      from planned p join tree t on t.n = p.parent)
    insert into namespaces (id, kind, parent_id, traversal_ids, name, path, full_path, full_name, description, visibility, runners_token, created_at, updated_at)
    select ${groupId(0)} + n, 'group', parent_id, ids, name, path, full_path, full_name, 'Holds what belongs together', visibility,
      md5('namespace' || n)::varchar(20), timestamptz '2019-06-01' + n * interval '1 hour', timestamptz '2019-06-01' + n * interval '3 hours'
    from tree order by n`)
}

/** Seven of ten are in groups, more of them in the first groups; the others are personal. One of twenty is a fork. */
async function seedProjects({ client, size }: Seeding): Promise<void> {
  // The trigger that counts topics updates the row of a topic for each project, which is quadratic in a transaction.
  await client.query(`set local stithy.rules = 'services'`)
  await client.query(`
    insert into projects (id, namespace_id, creator_id, name, path, full_path, description, visibility, topics, star_count, open_issues_count,
      forked_from_project_id, runners_token, default_branch, readme_path, license_path, license_key, archived, created_at, updated_at, last_activity_at)
    select n, ns.id, ${userId(0)} + 1 + n % ${size.users}, 'Project ' || n, 'project-' || n, ns.full_path || '/project-' || n,
      'Does the work of ' || left(md5((n % 2000)::text), 8) || ', and does it well enough that others come to read how.',
      case when n = ${repositoryProject} then 20 else least(ns.visibility,
        case when ${fraction('n', 23)} < 0.3 then 20 when ${fraction('n', 23)} < 0.5 then 10 else 0 end) end,
      case when n % 4 = 0 then array['tools', 'topic-' || n % 50] else '{}' end, (n % 3 = 0)::integer, n % 30,
      case when n % 20 = 0 then n / 2 end, md5('project' || n)::varchar(20),
      case when n = ${repositoryProject} then 'main' end, case when n = ${repositoryProject} then 'README.md' end,
      case when n = ${repositoryProject} then 'LICENSE' end, case when n = ${repositoryProject} then 'mit' end, n % 40 = 7,
      timestamptz '2020-01-01' + n * interval '20 minutes', timestamptz '2021-01-01' + n * interval '20 minutes',
      timestamptz '2022-01-01' + ${fraction('n', 37)} * interval '700 days'
    from generate_series(1, ${size.projects}) n join namespaces ns on ns.id = case
      when n = ${repositoryProject} then ${groupId(1)}
      when n % 10 < 7 then ${groupId(1)} + floor(${size.groups} * power(${fraction('n', 5)}, 2))::bigint
      else ${userId(1)} + (n * 13) % ${size.users} end
    order by n`)
  await client.query(`set local stithy.rules = ''`)
  await client.query(`
    insert into topics (name, private_projects, internal_projects, public_projects)
    select t.name, count(*) filter (where p.visibility = 0), count(*) filter (where p.visibility = 10), count(*) filter (where p.visibility = 20)
    from projects p cross join unnest(p.topics) as t (name)
    group by t.name
    order by min(p.id), t.name`)
  await client.query(`update projects p set forks_count = f.count from
    (select forked_from_project_id as id, count(*) from projects where forked_from_project_id is not null group by 1) f where f.id = p.id`)
  await client.query(`insert into stars (user_id, project_id)
    select ${userId(1)} + (n * 7) % ${size.users}, n from generate_series(1, ${size.projects}) n where n % 3 = 0`)
  await client.query(`insert into project_statistics (project_id, commit_count, repository_size)
    select id, case when id = ${repositoryProject} then 20000 else 0 end, case when id = ${repositoryProject} then 30000000 else 0 end from projects`)
  await client.query(`insert into project_languages (project_id, name, share)
    select id, l.name, l.share from projects, (values ('TypeScript', 80.5), ('Shell', 19.5)) l (name, share) where id % 3 = 0 or id = ${repositoryProject}`)
  await client.query(`insert into routes (path_key, namespace_id) select lower(full_path), id from namespaces
    on conflict do nothing`)
  await client.query(`insert into routes (path_key, project_id) select lower(full_path), id from projects`)
}

/** Groups have an owner and some members, top-level groups more; one of five projects has members of its own. */
async function seedMembers({ client, size }: Seeding): Promise<void> {
  const top = topGroups(size)
  await client.query(`
    insert into members (namespace_id, user_id, access_level, created_at, updated_at)
    select ${groupId(0)} + g, ${userId(1)} + (g * 31 + k * 17) % ${size.users}, case when k = 1 then 50 else 10 + 10 * ((g + k) % 4) end,
      timestamptz '2021-01-01', timestamptz '2021-01-01'
    from generate_series(1, ${size.groups}) g, generate_series(1, case when g <= ${top} then 20 else 4 end) k`)
  await client.query(`
    insert into members (project_id, user_id, access_level, expires_at, created_at, updated_at)
    select p.id, ${userId(1)} + (p.id * 3 + k * 17) % ${size.users}, 10 + 10 * ((p.id + k) % 4),
      case when p.id % 15 = 0 then date '2099-01-01' end, timestamptz '2021-01-01', timestamptz '2021-01-01'
    from projects p, generate_series(1, 3) k where p.id % 5 = 0 or p.id = ${repositoryProject}`)
  const busy = userId(busyUser(size))
  await client.query(`
    insert into members (namespace_id, user_id, access_level)
    select id, ${busy}, 30 from namespaces where kind = 'group' and id % 50 = 9 or id between ${groupId(top + 1)} and ${groupId(top + 20)}
    on conflict do nothing`)
  await client.query(`
    insert into members (project_id, user_id, access_level)
    select id, ${busy}, 40 from projects where id % ${Math.ceil(size.projects / 200)} = 3 or id = ${repositoryProject} on conflict do nothing`)
}

async function seedShares({ client, size }: Seeding): Promise<void> {
  await client.query(`
    insert into project_group_links (project_id, group_id, group_access)
    select p.id, ${groupId(1)} + (p.id * 11) % ${size.groups}, 30 from projects p
    where p.id % 20 = 1 and p.namespace_id <> ${groupId(1)} + (p.id * 11) % ${size.groups}`)
  await client.query(`
    insert into group_group_links (shared_group_id, shared_with_group_id, group_access)
    select ${groupId(0)} + n, ${groupId(1)} + (n * 29) % ${size.groups}, 20 from generate_series(1, ${size.groups}) n
    where n % 50 = 3 and (n * 29) % ${size.groups} + 1 <> n`)
}

/** Sets the sequences, so that new rows follow the seeded ones. */
async function advanceIds({ client }: Seeding): Promise<void> {
  for (const table of ['users', 'namespaces', 'projects'])
    await client.query(`select setval(pg_get_serial_sequence('${table}', 'id'), (select max(id) from ${table}))`)
}

async function computeAccess(databaseUrl: string, client: pg.Client): Promise<void> {
  await using db = openDatabase(databaseUrl, { readers: 1, writers: 1 })
  const groups = await idsOf(client, 'select id from namespaces order by id')
  const projects = await idsOf(
    client,
    `select id from projects p where exists (select from members m where m.project_id = p.id)
      or exists (select from project_group_links l where l.project_id = p.id) order by id`,
  )
  for (const [ids, refresh] of [
    [groups, refreshGroupAccess],
    [projects, refreshProjectAccess],
  ] as const) {
    for (let start = 0; start < ids.length; start += batch)
      await db.transaction(async (tx) => {
        await lockAccess(tx)
        await refresh(tx, ids.slice(start, start + batch))
      })
  }
}

const idsOf = async (client: pg.Client, text: string): Promise<number[]> =>
  (await client.query<{ id: string }>(text)).rows.map(({ id }) => Number(id))
