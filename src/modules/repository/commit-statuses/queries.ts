import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, double, integer, json, nullable, oneOf, type RowOf, text, timestamp } from '../../../db/row.ts'
import { raw, type Sql, sql, wireTime } from '../../../db/sql.ts'
import type { Timestamp } from '../../../db/types.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'
import { statuses as allStatuses, isFinished, type Status } from '../../ci/index.ts'
import type { Report } from './report.ts'

/** A status with attributes of its pipeline. */
export const statusRow = {
  id: integer,
  name: text,
  /** Short name of a branch or tag. */
  ref: text,
  stage: text,
  status: oneOf(...allStatuses),
  failure_reason: nullable(text),
  allow_failure: boolean,
  target_url: nullable(text),
  description: nullable(text),
  /** Per cent. */
  coverage: nullable(double),
  created_at: timestamp,
  started_at: nullable(timestamp),
  finished_at: nullable(timestamp),
  /** Seconds of run time, so far or in total. */
  duration: nullable(double),
  /** Seconds in the queue. */
  queued_duration: nullable(double),
  /** Null if the account is gone. */
  author: nullable(json<UserReferenceRow>()),
  pipeline: json<{
    id: number
    sha: Oid
    ref: string
    tag: boolean
    status: Status
    created_at: Timestamp
    updated_at: Timestamp
  }>(),
}
export type StatusRow = RowOf<typeof statusRow>

const seconds = (from: string, to: string): Sql =>
  raw(`extract(epoch from coalesce(${to}, now()) - ${from})::double precision`)

/** Columns of a row with the alias `s`, with its pipeline `p` and author `u`. */
const columns = sql`
  s.id, s.name, s.ref, s.stage, s.status, s.failure_reason, s.allow_failure, s.target_url, s.description, s.coverage,
  s.created_at, s.started_at, s.finished_at, ${seconds('s.started_at', 's.finished_at')} as duration,
  ${seconds('s.queued_at', 'coalesce(s.started_at, s.finished_at)')} as queued_duration,
  case when u.id is not null then ${userReferenceJson('u')} end as author,
  json_build_object(
    'id', p.id, 'sha', p.sha, 'ref', p.ref, 'tag', p.tag, 'status', p.status, 'created_at',
    ${wireTime(raw('p.created_at'))}, 'updated_at', ${wireTime(raw('p.updated_at'))}
  ) as pipeline
`

const joined = raw('join pipelines p on p.id = s.pipeline_id left join users u on u.id = s.user_id')

const list = (type: string, where: readonly Sql[], direction: 'asc' | 'desc'): List => ({
  type,
  select: sql`select ${columns} from commit_statuses s ${joined}`,
  from: raw('from commit_statuses s'),
  key: raw('s.id'),
  where,
  order: [{ by: raw('s.id'), direction }],
  keyset: { direction },
})

export type StatusFilters = { ref?: string; stage?: string; name?: string; all: boolean }

/** Statuses of a commit in all its pipelines, oldest first; without `all`, the latest of each name. */
export const statusesOf = (projectId: number, sha: Oid, { ref, stage, name, all }: StatusFilters): List =>
  list(
    'CommitStatus',
    [
      sql`s.pipeline_id = any(array(select id from pipelines where project_id = ${projectId} and sha = ${sha}))`,
      ...(all ? [] : [raw('not s.retried')]),
      ...(ref === undefined ? [] : [sql`s.ref = ${ref}`]),
      ...(stage === undefined ? [] : [sql`s.stage = ${stage}`]),
      ...(name === undefined ? [] : [sql`s.name = ${name}`]),
    ],
    'asc',
  )

const anyOf = (statuses: readonly Status[] | undefined): Sql[] =>
  statuses === undefined ? [] : [sql`s.status = any(${statuses}::text[])`]

/** Statuses of a project as jobs, newest first. */
export const jobsOfProject = (projectId: number, statuses: readonly Status[] | undefined): List =>
  list('Job', [sql`s.project_id = ${projectId}`, ...anyOf(statuses)], 'desc')

/** Statuses of a pipeline as jobs; with `includeRetried` also those that later ones replaced. */
export const jobsOfPipeline = (
  pipelineId: number,
  statuses: readonly Status[] | undefined,
  includeRetried: boolean,
): List =>
  list(
    'Job',
    [sql`s.pipeline_id = ${pipelineId}`, ...anyOf(statuses), ...(includeRetried ? [] : [raw('not s.retried')])],
    'desc',
  )

/** One status of a project. */
export const findStatus = (db: Db, projectId: number, id: number): Promise<StatusRow | undefined> =>
  db.row(
    statusRow,
    sql`select ${columns} from commit_statuses s ${joined} where s.project_id = ${projectId} and s.id = ${id}`,
  )

/** Identifies the status that a report updates. */
export type StatusKey = {
  readonly projectId: number
  readonly pipelineId: number
  readonly name: string
  readonly ref: string
  readonly userId: number
}

/** The newest unfinished status. */
export const findOpenStatus = (tx: Tx, key: StatusKey): Promise<{ id: number; status: Status } | undefined> =>
  tx.row(
    { id: integer, status: oneOf(...allStatuses) },
    sql`
      select id, status
      from commit_statuses
      where pipeline_id = ${key.pipelineId}
        and name = ${key.name}
        and ref = ${key.ref}
        and user_id = ${key.userId}
        and status in ('pending', 'running')
      order by id desc
      limit 1
    `,
  )

/** Inserts a status without a report. It replaces earlier ones of its name. */
export async function insertStatus(tx: Tx, key: StatusKey): Promise<number> {
  await tx.run(sql`
    update commit_statuses
    set retried = true
    where pipeline_id = ${key.pipelineId} and name = ${key.name} and not retried
  `)
  const { id } = (await tx.row(
    { id: integer },
    sql`
      insert into commit_statuses (project_id, pipeline_id, name, ref, status, user_id, created_at)
      values (${key.projectId}, ${key.pipelineId}, ${key.name}, ${key.ref}, 'created', ${key.userId}, clock_timestamp())
      returning id
    `,
  ))!
  return id
}

/**
 * Updates a status with the state and the given attributes of a report. A running status was queued and starts once; a
 * pending one has not started; a finished one has an end time.
 */
export async function updateStatus(tx: Tx, id: number, { state, ...report }: Report): Promise<StatusRow> {
  const queued = state === 'pending' || state === 'running'
  return (await tx.row(
    statusRow,
    sql`
      with s as (
        update commit_statuses as s
        set status = ${state}, failure_reason = ${state === 'failed' ? 'api_failure' : null},
          queued_at = case when ${queued} then coalesce(s.queued_at, clock.now) else s.queued_at end,
          started_at = case ${state}
            when 'pending' then null when 'running' then coalesce(s.started_at, clock.now) else s.started_at
          end, finished_at = case when ${isFinished(state)} then clock.now end,
          target_url = coalesce(${report.targetUrl ?? null}, s.target_url),
          description = coalesce(${report.description ?? null}, s.description),
          coverage = coalesce(${report.coverage ?? null}::double precision, s.coverage)
        from (select clock_timestamp() as now) clock
        where s.id = ${id}
        returning s.*
      )
      select ${columns}
      from s ${joined}
    `,
  ))!
}
