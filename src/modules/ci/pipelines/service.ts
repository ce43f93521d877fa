import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { branchName, branchRef, type RefName, tagName } from '../../../git/format/ref-name.ts'
import { listRefTips } from '../../../git/refs/refs.ts'
import { findRevision } from '../../../git/refs/resolve.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { openRepository, type ProjectSubject } from '../../projects/index.ts'
import {
  findNewestPipeline,
  findPipeline,
  type PipelineDetailRow,
  type PipelineRow,
  type PipelineScope,
  tallyPipeline,
  updatePipeline,
} from './queries.ts'
import { isFinished, pipelineStatus } from './status.ts'

/** The name of a ref in a pipeline: short for a branch or tag, full for other refs. */
export const shortName = (ref: RefName): string => branchName(ref) ?? tagName(ref) ?? ref

export async function getPipeline(ctx: Ctx, project: ProjectSubject, id: number): Promise<PipelineDetailRow> {
  const found = await findPipeline(ctx.db, project.id, id)
  if (!found) throw rowNotFound()
  return found
}

/** The newest pipeline of the commit that a ref points to; of the default branch if `named` is absent. */
export async function getLatestPipeline(
  ctx: Ctx,
  project: ProjectSubject,
  named: string | undefined,
): Promise<PipelineDetailRow> {
  const name = named || (project.default_branch && branchRef(project.default_branch))
  const at = name ? await findRevision(openRepository(ctx, project), name, { prefer: 'branch' }) : undefined
  const ref = at?.ref === undefined || at.ref === 'HEAD' ? undefined : shortName(at.ref)
  const found = at && ref !== undefined && (await findNewestPipeline(ctx.db, project.id, at.oid, ref))
  if (!found) throw rowNotFound()
  return found
}

export const scopes = ['running', 'pending', 'finished', 'branches', 'tags'] as const

const statusScopes = {
  running: ['running'],
  pending: ['pending'],
  finished: ['success', 'failed', 'canceled'],
} as const

/** Resolves a scope. For branches and tags, one git process lists those of the repository. */
export async function readScope(
  ctx: Ctx,
  project: ProjectSubject,
  scope: (typeof scopes)[number],
): Promise<PipelineScope> {
  if (scope !== 'branches' && scope !== 'tags') return { statuses: statusScopes[scope] }
  const folder = scope === 'branches' ? 'refs/heads/' : 'refs/tags/'
  const refs = await listRefTips(openRepository(ctx, project), folder)
  return { newestOf: scope === 'branches' ? 'branch' : 'tag', names: refs.map(({ name }) => shortName(name)) }
}

/** Updates a pipeline after one of its statuses changed. `emitPipelineChange` follows in the same transaction. */
export async function refreshPipeline(tx: Tx, pipeline: PipelineRow): Promise<PipelineRow> {
  const { counts, duration } = await tallyPipeline(tx, pipeline.id)
  const status = pipelineStatus(counts)
  if (status === pipeline.status) return pipeline
  const finished = isFinished(status)
  return updatePipeline(tx, pipeline.id, { status, finished, duration: finished ? duration : null })
}

/** Emits `pipeline_changed` if the status of a pipeline changed. */
export async function emitPipelineChange(
  tx: Tx,
  before: PipelineRow,
  { id, project_id, sha, status }: PipelineRow,
  actorId: number,
): Promise<void> {
  if (status === before.status) return
  await emit(tx, {
    kind: 'pipeline_changed',
    projectId: project_id,
    actorId,
    payload: { pipeline_id: id, sha, status, previous_status: before.status },
  })
}
