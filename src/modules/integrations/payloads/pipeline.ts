import { nullOid } from '../../../git/format/oid.ts'
import { PayloadProject, userOf } from './blocks.ts'
import { findMergeRequestRow, findPipelineRow, findStatusRow } from './queries.ts'
import type { PayloadCtx } from './shown.ts'
import { type Builder, idIn } from './source.ts'

const words: Readonly<Record<string, string>> = { success: 'passed', scheduled: 'delayed', manual: 'blocked' }

async function mergeRequestOf(ctx: PayloadCtx, project: PayloadProject, id: number | null) {
  const mr = id === null ? undefined : await findMergeRequestRow(ctx.db, id)
  if (!mr) return null
  const target = mr.project_id === project.row.id ? project : await PayloadProject.load(ctx, mr.project_id)
  return {
    id: mr.id,
    iid: mr.iid,
    title: mr.title,
    source_branch: mr.source_branch,
    source_project_id: mr.source_project_id,
    target_branch: mr.target_branch,
    target_project_id: mr.project_id,
    state: mr.state,
    merge_status: mr.merge_status,
    url: target && `${target.webUrl}/-/merge_requests/${mr.iid}`,
  }
}

export const pipelinePayload: Builder = async (ctx, { event }) => {
  const row = ctx.shown?.pipeline ?? (await findPipelineRow(ctx.db, idIn(event.payload, 'pipeline_id')))
  const project = await PayloadProject.load(ctx, event.project_id)
  if (!row || !project) return undefined
  const pipeline = { ...row, ...event.facts }
  return {
    object_kind: 'pipeline',
    object_attributes: {
      id: pipeline.id,
      iid: pipeline.iid,
      ref: pipeline.ref,
      tag: pipeline.tag,
      sha: pipeline.sha,
      before_sha: nullOid,
      source: pipeline.source,
      status: pipeline.status,
      detailed_status: words[pipeline.status] ?? pipeline.status,
      stages: pipeline.stages,
      created_at: pipeline.created_at,
      finished_at: pipeline.finished_at,
      duration: pipeline.duration,
      variables: [],
      url: `${project.webUrl}/-/pipelines/${pipeline.id}`,
    },
    merge_request: await mergeRequestOf(ctx, project, pipeline.merge_request_id),
    user: await userOf(ctx, pipeline.user_id ?? event.actor_id),
    project: project.current,
    commit: await project.commitBlock(pipeline.sha),
    // Reported statuses are no builds.
    builds: [],
  }
}

/** Of a reported status, which is what this service has of jobs. */
export const jobPayload: Builder = async (ctx, { event }) => {
  const found = ctx.shown?.status ?? (await findStatusRow(ctx.db, idIn(event.payload, 'status_id')))
  const pipeline = found && (ctx.shown?.pipeline ?? (await findPipelineRow(ctx.db, found.pipeline_id)))
  const project = await PayloadProject.load(ctx, event.project_id)
  if (!found || !pipeline || !project) return undefined
  const job = { ...found, ...event.facts }
  const commit = await project.commitBlock(pipeline.sha)
  const { id, name, email } = await userOf(ctx, job.user_id ?? event.actor_id)
  return {
    object_kind: 'build',
    ref: pipeline.ref,
    tag: pipeline.tag,
    before_sha: nullOid,
    sha: pipeline.sha,
    build_id: job.id,
    build_name: job.name,
    build_stage: job.stage,
    build_status: job.status,
    build_started_at: job.started_at,
    build_finished_at: job.finished_at,
    build_duration: job.duration,
    build_allow_failure: job.allow_failure,
    build_failure_reason: job.failure_reason ?? 'unknown_failure',
    pipeline_id: pipeline.id,
    project_id: project.row.id,
    project_name: `${project.row.namespace_name} / ${project.row.name}`,
    project: project.current,
    user: { id, name, email },
    commit: {
      id: pipeline.id,
      sha: pipeline.sha,
      message: commit?.message ?? null,
      author_name: commit?.author.name ?? null,
      author_email: commit?.author.email ?? null,
      author_url: commit && `mailto:${commit.author.email}`,
      status: pipeline.status,
      duration: pipeline.duration,
      started_at: pipeline.started_at,
      finished_at: pipeline.finished_at,
    },
    repository: project.longRepositoryBlock,
    runner: null,
    environment: null,
  }
}
