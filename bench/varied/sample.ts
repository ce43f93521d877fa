import pg from 'pg'
import { git } from '../repository.ts'
import type { Size } from '../sizes.ts'
import { groupId, repositoryProject, userId } from '../world.ts'

/** Callers of a varied load. */
const callers = 1_000
const rows = 5_000

/** A user's right to a project or group. Users are named by their ordinals. */
type Right = { user: number; id: number }

/** What the requests of a varied load are made of: a sample of the seeded rows, and names in the repository. */
export type Sample = {
  users: number[]
  /** Projects that a caller may read because they or their groups are members. */
  readable: Right[]
  /** Personal projects of callers. */
  owned: Right[]
  publicProjects: { id: number; path: string }[]
  readableGroups: Right[]
  publicGroups: number[]
  /** Merge requests in projects that `user` may read. */
  mergeRequests: { user: number; project: number; iid: number }[]
  /** Issues that are not confidential, in projects that `user` may read. */
  issues: { user: number; project: number; iid: number }[]
  /** Words that occur in titles of issues. */
  issueWords: string[]
  /** Merge requests of the project with the repository whose commits are in it. */
  merged: number[]
  commits: string[]
  /** Files of `main`. */
  paths: string[]
  /** Files of the first commit, which every ref contains. */
  firstPaths: string[]
  folders: string[]
  branches: string[]
  tags: string[]
  /** Words that occur in descriptions of projects. */
  words: string[]
}

/** Draws a sample from the database and the repository. */
export async function sampleOf(databaseUrl: string, size: Size, repository: string): Promise<Sample> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const read = async <Row extends pg.QueryResultRow>(text: string) => (await client.query<Row>(text)).rows
  const ids = (found: { id: string }[]) => found.map(({ id }) => Number(id))
  const step = Math.max(1, Math.floor(size.users / callers))
  // Those of this remainder have personal projects at every size.
  const isCaller = (column: string) =>
    `${column} between ${userId(1)} and ${userId(size.users)} and (${column} - ${userId(1)}) % ${step} = ${1 % step}`
  const rights = (found: { user: string; id: string }[]): Right[] =>
    found.map(({ user, id }) => ({ user: Number(user) - userId(0), id: Number(id) }))
  const numbered = ({ user, project, iid }: { user: string; project: string; iid: string }) => ({
    user: Number(user) - userId(0),
    project: Number(project),
    iid: Number(iid),
  })
  try {
    await client.query('select setseed(0.5)')
    const users = ids(await read(`select id from users where ${isCaller('id')} order by id limit ${callers}`))
    const readable = rights(
      await read(`select a.user_id as user, p.id from group_access a join projects p on p.namespace_id = a.group_id
        where ${isCaller('a.user_id')} and a.level >= 20 order by random() limit ${rows}`),
    )
    const owned = rights(
      await read(`select n.owner_id as user, p.id from projects p join namespaces n on n.id = p.namespace_id
        where ${isCaller('n.owner_id')} and not p.archived order by random() limit ${rows}`),
    )
    const readableGroups = rights(
      await read(`select user_id as user, group_id as id from group_access
        where ${isCaller('user_id')} and group_id >= ${groupId(1)} order by random() limit ${rows}`),
    )
    const publicProjects = await read<{ id: string; full_path: string }>(
      `select id, full_path from projects where visibility = 20 order by random() limit ${rows}`,
    )
    const publicGroups = ids(
      await read(`select id from namespaces where kind = 'group' and visibility = 20 order by random() limit 1000`),
    )
    const mergeRequests = await read<{ user: string; project: string; iid: string }>(
      `select a.user_id as user, m.project_id as project, m.iid from merge_requests m join projects p on p.id = m.project_id
        join group_access a on a.group_id = p.namespace_id and a.level >= 20
        where not p.archived and ${isCaller('a.user_id')} order by random() limit ${rows}`,
    )
    const issues = await read<{ user: string; project: string; iid: string }>(
      `select a.user_id as user, m.project_id as project, m.iid from issues m join projects p on p.id = m.project_id
        join group_access a on a.group_id = p.namespace_id and a.level >= 10
        where m.id % ${Math.max(1, size.issues / 10_000)} = 0 and not m.confidential and not p.archived and ${isCaller('a.user_id')}
        order by random() limit ${rows}`,
    )
    const issueWords = await read<{ word: string }>(
      `select left(md5(n::text), 8) as word from generate_series(0, 1999) n`,
    )
    const merged = ids(
      await read(
        `select iid as id from merge_requests where project_id = ${repositoryProject} and merge_commit_oid is not null`,
      ),
    )
    const words = await read<{ word: string }>(
      `select left(md5(n::text), 8) as word from generate_series(0, least(1999, ${size.projects - 1})) n`,
    )
    const lines = (...args: string[]) => git(repository, ...args).split('\n')
    return {
      users: users.map((id) => id - userId(0)),
      readable,
      owned,
      publicProjects: publicProjects.map(({ id, full_path }) => ({ id: Number(id), path: full_path })),
      readableGroups,
      publicGroups,
      mergeRequests: mergeRequests.map(numbered),
      issues: issues.map(numbered),
      issueWords: issueWords.map(({ word }) => word),
      merged,
      commits: lines('rev-list', '--first-parent', 'main'),
      paths: lines('ls-tree', '-r', '--name-only', 'main'),
      firstPaths: lines('ls-tree', '-r', '--name-only', git(repository, 'rev-list', '--max-parents=0', 'main')),
      folders: lines('ls-tree', '-r', '-d', '--name-only', git(repository, 'rev-list', '--max-parents=0', 'main')),
      branches: lines('for-each-ref', '--format=%(refname:short)', 'refs/heads'),
      tags: lines('for-each-ref', '--format=%(refname:short)', 'refs/tags'),
      words: words.map(({ word }) => word),
    }
  } finally {
    await client.end()
  }
}
