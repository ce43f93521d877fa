import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { branchRef, tagName } from '../../../git/format/ref-name.ts'
import { isAncestor, refsContaining } from '../../../git/history/ancestry.ts'
import { readRef } from '../../../git/refs/refs.ts'
import { findRevision } from '../../../git/refs/resolve.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { notFound } from '../../../kernel/failure.ts'
import {
  choosePipeline,
  emitPipelineChange,
  insertPipeline,
  lockCommit,
  type PipelineRow,
  refreshPipeline,
  type Status,
  shortName,
} from '../../ci/index.ts'
import { openRepository, type ProjectSubject } from '../../projects/index.ts'
import { findCommitId } from '../commits/revision.ts'
import { findOpenStatus, insertStatus, type StatusKey, type StatusRow, updateStatus } from './queries.ts'
import { type Report, requireReport } from './report.ts'

/** The commit with this name; throws `not_found` otherwise. One round trip, unless it is cached. */
export async function getCommitId(ctx: Ctx, project: ProjectSubject, name: string): Promise<Oid> {
  const id = await findCommitId(openRepository(ctx, project), name)
  if (!id) throw notFound('Commit')
  return id
}

/** Shortens `refs/heads/main` and `refs/tags/v1` to the names in pipelines. */
export const shortRef = (text: string): string => text.replace(/^refs\/(heads|tags)\//, '')

/**
 * Default ref of a list of statuses: the default branch if it contains the commit and has statuses of it, otherwise any
 * ref. One process the first time for a commit and tip.
 */
export async function defaultStatusRef(ctx: Ctx, project: ProjectSubject, sha: Oid): Promise<string | undefined> {
  const name = project.default_branch
  const ref = name === null ? undefined : branchRef(name)
  if (name === null || !ref) return undefined
  if (!(await choosePipeline(ctx.db, { projectId: project.id, sha, ref: name, id: undefined }))) return undefined
  const repo = openRepository(ctx, project)
  const tip = await readRef(repo, ref)
  return tip && (await isAncestor(repo, sha, tip)) ? name : undefined
}

type PipelineRef = Pick<PipelineRow, 'ref' | 'tag'>

/** Ref of the first pipeline of a commit: the given one, else the first branch that contains the commit. */
async function firstRef(repo: Repository, sha: Oid, named: string | undefined): Promise<PipelineRef> {
  const missing = notFound('References for commit')
  if (named !== undefined) {
    const ref = (await findRevision(repo, named, { prefer: 'branch' }))?.ref
    if (ref === undefined || ref === 'HEAD') throw missing
    return { ref: shortName(ref), tag: tagName(ref) !== undefined }
  }
  const [branch] = await refsContaining(repo, sha, ['refs/heads/'])
  if (!branch) throw missing
  return { ref: shortName(branch.name), tag: false }
}

export type Target = {
  readonly sha: Oid
  readonly ref: string | undefined
  readonly pipelineId: number | undefined
}

/**
 * Reports a status: updates the caller's unfinished status of this name, or inserts one, in the newest matching
 * pipeline or a new one. Reports on a commit are serialised, so that each response is accurate. Emits
 * `commit_status_changed` if the status changed, and `pipeline_changed` if that of the pipeline did. One git process if
 * there is no pipeline yet and no ref is given.
 */
export async function reportStatus(
  ctx: Ctx,
  project: ProjectSubject,
  { sha, ref: named, pipelineId }: Target,
  report: Report,
): Promise<StatusRow> {
  requireReport(report)
  const userId = ctx.actor!.id
  const ref = named === undefined ? undefined : shortRef(named)
  const choice = { projectId: project.id, sha, ref, id: pipelineId }
  const known = await choosePipeline(ctx.db, choice)
  const first = known ?? (await firstRef(openRepository(ctx, project), sha, named))
  // A name such as `heads/main` was resolved to the short name.
  const wanted = ref === undefined ? choice : { ...choice, ref: first.ref }
  return ctx.transaction(async (tx) => {
    if (!(await lockCommit(tx, project.id, sha))) throw notFound('Project')
    const pipeline =
      (await choosePipeline(tx, wanted)) ??
      (await insertPipeline(tx, { projectId: project.id, sha, ref: first.ref, tag: first.tag, userId }))
    // Reports on the commit, and changes of the project, made this one wait.
    await tx.requirePermission?.()
    const key = { projectId: project.id, pipelineId: pipeline.id, name: report.name, ref: pipeline.ref, userId }
    const { before, row } = await moveStatus(tx, key, report)
    // Before the events: hooks for jobs show the status of the pipeline.
    const now = await refreshPipeline(tx, pipeline)
    if (row.status !== before) await emitStatusChange(tx, key, before, row)
    await emitPipelineChange(tx, pipeline, now, userId)
    return { ...row, pipeline: { ...row.pipeline, status: now.status } }
  })
}

async function moveStatus(tx: Tx, key: StatusKey, report: Report): Promise<{ before: Status | null; row: StatusRow }> {
  const open = await findOpenStatus(tx, key)
  const row = await updateStatus(tx, open?.id ?? (await insertStatus(tx, key)), report)
  return { before: open?.status ?? null, row }
}

const emitStatusChange = (tx: Tx, { projectId, userId }: StatusKey, before: Status | null, row: StatusRow) =>
  emit(tx, {
    kind: 'commit_status_changed',
    projectId,
    actorId: userId,
    payload: {
      status_id: row.id,
      pipeline_id: row.pipeline.id,
      sha: row.pipeline.sha,
      status: row.status,
      previous_status: before,
    },
  })
