import type { Direction, List } from '../../../api/list.ts'
import { byKey, type Db, type Tx } from '../../../db/db.ts'
import { orNothing } from '../../../db/or-nothing.ts'
import {
  allNullable,
  boolean,
  integer,
  json,
  listOf,
  nullable,
  oneOf,
  type RowOf,
  text,
  textOf,
  timestamp,
} from '../../../db/row.ts'
import { literal, raw, type Sql, sql } from '../../../db/sql.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'
import { type Count, type Status, statuses } from './status.ts'

export const pipelineRow = {
  id: integer,
  iid: integer,
  project_id: integer,
  sha: textOf<Oid>(),
  /** Short name of a branch or tag. */
  ref: text,
  tag: boolean,
  source: text,
  status: oneOf<Status>(...statuses),
  user_id: nullable(integer),
  created_at: timestamp,
  updated_at: timestamp,
  started_at: nullable(timestamp),
  finished_at: nullable(timestamp),
  /** Seconds. */
  duration: nullable(integer),
}
export type PipelineRow = RowOf<typeof pipelineRow>

const columns = raw(
  'p.id, p.iid, p.project_id, p.sha, p.ref, p.tag, p.source, p.status, p.user_id, p.created_at, p.updated_at, p.started_at, p.finished_at, p.duration',
)

export const pipelineOrders = ['id', 'status', 'ref', 'updated_at', 'user_id'] as const

export type PipelineFilters = {
  status?: Status
  ref?: string
  sha?: string
  username?: string
  updated_after?: Date
  updated_before?: Date
  order_by: (typeof pipelineOrders)[number]
  sort: Direction
}

/** Pipelines of a project by status, or the newest of each given branch or tag. */
export type PipelineScope =
  | { readonly statuses: readonly Status[] }
  | { readonly newestOf: 'branch' | 'tag'; readonly names: readonly string[] }

const inScope = (projectId: number, scope: PipelineScope): Sql =>
  'statuses' in scope
    ? sql`p.status = any(${scope.statuses}::text[])`
    : sql`
      p.id = any(
        array(
          select (
            select n.id
            from pipelines n
            where n.project_id = ${projectId} and n.ref = name and n.tag = ${scope.newestOf === 'tag'}
            order by n.id desc
            limit 1
          )
          from unnest(${scope.names}::text[]) as name
        )
      )
    `

export function listPipelines(projectId: number, filters: PipelineFilters, scope: PipelineScope | undefined): List {
  const where = [sql`p.project_id = ${projectId}`]
  if (scope) where.push(inScope(projectId, scope))
  if (filters.status !== undefined) where.push(sql`p.status = ${filters.status}`)
  if (filters.ref) where.push(sql`p.ref = ${filters.ref}`)
  if (filters.sha) where.push(sql`p.sha = ${filters.sha}`)
  if (filters.username)
    where.push(sql`p.user_id = (select id from users where lower(username) = lower(${filters.username}))`)
  if (filters.updated_after !== undefined) where.push(sql`p.updated_at > ${filters.updated_after}`)
  if (filters.updated_before !== undefined) where.push(sql`p.updated_at < ${filters.updated_before}`)
  const direction = filters.sort
  const byId = { by: raw('p.id'), direction }
  return {
    type: 'Pipeline',
    select: sql`select ${columns} from pipelines p`,
    from: raw('from pipelines p'),
    where,
    order: filters.order_by === 'id' ? [byId] : [{ by: raw(`p.${filters.order_by}`), direction }, byId],
    keyset: filters.order_by === 'id' ? { direction } : undefined,
  }
}

/**
 * Pipelines of all commits that the merge request has or had, for its source branch in the source project; none if that
 * project is gone.
 */
export const listPipelinesFor = (
  projectId: number | null,
  mergeRequest: { readonly id: number; readonly source_branch: string },
): List => ({
  type: 'Pipeline',
  select: sql`select ${columns} from pipelines p`,
  from: raw('from pipelines p'),
  where: [
    sql`p.project_id = ${projectId}`,
    sql`p.ref = ${mergeRequest.source_branch}`,
    sql`
      exists (
        select
        from merge_request_commits c join merge_request_diffs d on d.id = c.diff_id
        where c.oid = p.sha and d.merge_request_id = ${mergeRequest.id}
      )
    `,
  ],
  order: [{ by: raw('p.id'), direction: 'desc' }],
  keyset: { direction: 'desc' },
})

/** Row of a single pipeline. */
export const pipelineDetailRow = {
  ...pipelineRow,
  user: nullable(json<UserReferenceRow>()),
  /** Mean coverage of the latest statuses, in per cent with two decimals; without values of older imports that are no percentages. */
  coverage: nullable(text),
}
export type PipelineDetailRow = RowOf<typeof pipelineDetailRow>

const detail = sql`
  select ${columns}, case when u.id is not null then ${userReferenceJson('u')} end as user,
    (
      select round(avg(s.coverage)::numeric, 2)::text
      from commit_statuses s
      where s.pipeline_id = p.id and not s.retried and s.coverage between 0 and 100
    ) as coverage
  from pipelines p left join users u on u.id = p.user_id
`

export const findPipeline = (db: Db, projectId: number, id: number): Promise<PipelineDetailRow | undefined> =>
  db.snapshotCache.row(
    pipelineDetailRow,
    byKey(sql`${detail} where p.project_id = ${projectId} and p.id = ${id}`),
    ({ project_id }) => ({ projects: [project_id] }),
  )

/** The newest pipeline of a commit for a ref. */
export const findNewestPipeline = (
  db: Db,
  projectId: number,
  sha: Oid,
  ref: string,
): Promise<PipelineDetailRow | undefined> =>
  db.row(
    pipelineDetailRow,
    sql`${detail} where p.project_id = ${projectId} and p.sha = ${sha} and p.ref = ${ref} order by p.id desc limit 1`,
  )

/** A column of the newest pipeline of a commit for a ref; null without one. A scalar subquery. */
const newestSql =
  (column: 'id' | 'status') =>
  (projectId: Sql, sha: Sql, ref: Sql): Sql =>
    sql`
      (
        select p.${raw(column)}
        from pipelines p
        where p.project_id = ${projectId} and p.sha = ${sha} and p.ref = ${ref}
        order by p.id desc
        limit 1
      )
    `

export const newestStatusSql = newestSql('status')
export const newestPipelineIdSql = newestSql('id')

const maybePipeline = allNullable(pipelineRow)

/** Pipelines of these projects, none of which would not be cached without `orNothing`. */
async function cachedPipelines(db: Db, found: Sql, projects: readonly number[]): Promise<readonly PipelineRow[]> {
  const rows = await db.snapshotCache.rows(maybePipeline, byKey(orNothing(found)), () => ({ projects }))
  return rows.filter((row): row is PipelineRow => row.id !== null)
}

/** The newest pipeline of each commit of a project, for any ref; omits commits without one. One statement. */
export const newestPipelines = (
  db: Db,
  commits: readonly { readonly projectId: number; readonly sha: Oid }[],
): Promise<readonly PipelineRow[]> => {
  const projects = commits.map(({ projectId }) => projectId)
  const found = sql`
    select distinct on (p.project_id, p.sha) ${columns}
    from unnest(${projects}::bigint[], ${commits.map(({ sha }) => sha)}::text[]) as c (project_id, sha)
      join pipelines p on p.project_id = c.project_id and p.sha = c.sha
    order by p.project_id, p.sha, p.id desc
  `
  return cachedPipelines(db, found, projects)
}

/** The newest pipeline of each commit for a ref, in any project; omits commits without one. One statement. */
export const newestPipelinesOfRefs = (
  db: Db,
  wanted: readonly { readonly projectId: number; readonly sha: Oid; readonly ref: string }[],
): Promise<readonly PipelineRow[]> => {
  const projects = wanted.map(({ projectId }) => projectId)
  const found = sql`
    select distinct on (p.project_id, p.sha, p.ref) ${columns}
    from unnest(
        ${projects}::bigint[], ${wanted.map(({ sha }) => sha)}::text[], ${wanted.map(({ ref }) => ref)}::text[]
      ) as w (project_id, sha, ref)
      join pipelines p on p.project_id = w.project_id and p.sha = w.sha and p.ref = w.ref
    order by p.project_id, p.sha, p.ref, p.id desc
  `
  return cachedPipelines(db, found, projects)
}

/** Selects the pipeline of a report: the newest of the commit, narrowed by ref and id if given. */
export type PipelineChoice = {
  readonly projectId: number
  readonly sha: Oid
  readonly ref: string | undefined
  readonly id: number | undefined
}

export const choosePipeline = (db: Db, { projectId, sha, ref, id }: PipelineChoice): Promise<PipelineRow | undefined> =>
  db.row(
    pipelineRow,
    sql`
      select ${columns}
      from pipelines p
      where p.project_id = ${projectId}
        and p.sha = ${sha}
        and p.ref = coalesce(${ref ?? null}::text, p.ref)
        and p.id = coalesce(${id ?? null}::bigint, p.id)
      order by p.id desc
      limit 1
    `,
  )

/**
 * Serialises reports on a commit, so that each sees the committed rows of the others. False if the project is being
 * deleted.
 */
export const lockCommit = (tx: Tx, projectId: number, sha: Oid): Promise<boolean> =>
  tx.exists(sql`
    select pg_advisory_xact_lock(hashtextextended(${`${projectId} ${sha}`}, 0))
    from projects
    where id = ${projectId} and not deleting
    for key share
  `)

export type NewPipeline = {
  readonly projectId: number
  readonly sha: Oid
  readonly ref: string
  readonly tag: boolean
  readonly userId: number
}

/** Assigns the next number of the project, whose row is locked for it. */
export async function insertPipeline(tx: Tx, { projectId, sha, ref, tag, userId }: NewPipeline): Promise<PipelineRow> {
  await tx.run(sql`select from projects where id = ${projectId} for no key update`)
  return (await tx.row(
    pipelineRow,
    sql`
      insert into pipelines as p (project_id, iid, sha, ref, tag, status, user_id)
      select ${projectId}, coalesce(max(iid), 0) + 1, ${sha}, ${ref}, ${tag}, 'created', ${userId}
      from pipelines
      where project_id = ${projectId}
      returning ${columns}
    `,
  ))!
}

/** Maximum seconds of a duration: imported statuses may have run for centuries. */
const longestDuration = 2 ** 31 - 1

/** Sums of the latest statuses of a pipeline. */
export const tallyRow = {
  counts: json<Count[]>(),
  /** Sorted names. */
  stages: listOf(text),
  /** Seconds in which at least one of them ran; null if none ran. */
  duration: nullable(integer),
}
export type Tally = RowOf<typeof tallyRow>

export const tallyPipeline = async (tx: Tx, id: number): Promise<Tally> =>
  (await tx.row(
    tallyRow,
    sql`
      with latest as (select * from commit_statuses where pipeline_id = ${id} and not retried)
      select (
          select json_agg(c) from (select status, allow_failure, count(*) as count from latest group by 1, 2) c
        ) as counts,
        array(select stage from latest group by stage order by min(stage_index), stage) as stages,
        (
          select case
            when count(*) > 0 then least(
              round(sum(extract(epoch from upper(period) - lower(period)))), ${literal(longestDuration)}
            )::integer
          end
          from (
            select unnest(range_agg(tstzrange(started_at, finished_at))) as period
            from latest
            where started_at <= finished_at
          ) ran
        ) as duration
    `,
  ))!

/** Returns the updated pipeline. It starts once; a finished pipeline may run again. */
export const updatePipeline = async (
  tx: Tx,
  id: number,
  { status, finished, duration }: { status: Status; finished: boolean; duration: number | null },
): Promise<PipelineRow> =>
  (await tx.row(
    pipelineRow,
    sql`
      update pipelines as p
      set status = ${status}, updated_at = clock.now, duration = ${duration},
        started_at = case when ${status} = 'running' then coalesce(p.started_at, clock.now) else p.started_at end,
        finished_at = case when ${finished} then clock.now end
      from (select clock_timestamp() as now) clock
      where p.id = ${id}
      returning ${columns}
    `,
  ))!
