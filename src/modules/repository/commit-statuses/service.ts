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

/** The commit that a text names. Fails when it names none. One round trip for what was never read. */
export async function getCommitId(ctx: Ctx, project: ProjectSubject, name: string): Promise<Oid> {
  const id = await findCommitId(openRepository(ctx, project), name)
  if (!id) throw notFound('Commit')
  return id
}

/** `refs/heads/main` and `refs/tags/v1` as pipelines call them. */
export const shortRef = (text: string): string => text.replace(/^refs\/(heads|tags)\//, '')

/**
 * Of which ref a list of statuses is when nobody says: the default branch if it has the commit and something was said of
 * it there, else any. One process the first time for a commit and tip.
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

/** What a first pipeline of a commit is for: the ref that is named, else the first branch that has it. */
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
 * Says something of a commit: of what the caller said under that name and is not finished, whatever it was, or anew; in the
 * newest fitting pipeline, or in a first one. Reports on one commit take turns, so that of two at once each answer is
 * true. Tells `commit_status_changed` unless it was so, and `pipeline_changed` when the pipeline becomes something else. One git process
 * where there is no pipeline yet and no ref is named.
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
  // `heads/main` was another name for it.
  const wanted = ref === undefined ? choice : { ...choice, ref: first.ref }
  return ctx.transaction(async (tx) => {
    if (!(await lockCommit(tx, project.id, sha))) throw notFound('Project')
    const pipeline =
      (await choosePipeline(tx, wanted)) ??
      (await insertPipeline(tx, { projectId: project.id, sha, ref: first.ref, tag: first.tag, userId }))
    const key = { projectId: project.id, pipelineId: pipeline.id, name: report.name, ref: pipeline.ref, userId }
    const { before, row } = await moveStatus(tx, key, report)
    if (row.status !== before) await tellStatus(tx, key, before, row)
    const now = await refreshPipeline(tx, pipeline, userId)
    return { ...row, pipeline: { ...row.pipeline, status: now.status } }
  })
}

async function moveStatus(tx: Tx, key: StatusKey, report: Report): Promise<{ before: Status | null; row: StatusRow }> {
  const open = await findOpenStatus(tx, key)
  const row = await updateStatus(tx, open?.id ?? (await insertStatus(tx, key)), report)
  return { before: open?.status ?? null, row }
}

const tellStatus = (tx: Tx, { projectId, userId }: StatusKey, before: Status | null, row: StatusRow) =>
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
