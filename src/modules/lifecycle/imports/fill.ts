import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { branchName, branchRef } from '../../../git/format/ref-name.ts'
import { needsSketches } from '../../../git/likeness/sketches.ts'
import { setDefaultBranch } from '../../../git/refs/head.ts'
import type { RefTip } from '../../../git/refs/refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { writeCommitGraph } from '../../../git/transfer/maintenance.ts'
import { enqueue } from '../../../jobs/job.ts'
import { lacksRoom } from '../../../kernel/full-disk.ts'
import { holdPlace } from '../../groups/index.ts'
import {
  initialBranch,
  lockState,
  projectRepositoryDir,
  refreshLanguages,
  refreshSketches,
  saveRepositoryFacts,
  setAside,
} from '../../projects/index.ts'
import { protectFirstBranch, repositoryFacts } from '../../pushes/index.ts'
import { RemoteBusy, RemoteRefusal } from '../remotes/refusal.ts'
import { beginImport, failImport, finishImport, forgetAttempt, type ImportRow } from './queries.ts'

/** Branches and tags that were fetched, and the default branch of the source. */
export type Filling = {
  readonly refs: readonly RefTip[]
  readonly defaultBranch: string | null | undefined
  /** It brings the protections of its branches: the default branch gets none. */
  readonly bringsProtections?: boolean
}

/** An import that is interrupted this often probably causes the interruption itself. */
const maxAttempts = 5

/** Location of the repository to fill. `storage` is part of the job, because the project may be gone when it runs. */
export type Place = { readonly projectId: number; readonly storage: string }

/**
 * Fills the repository of a new project in a draft folder, then moves it into place. Safe to interrupt and repeat: no
 * repository is visible before the last transaction, and the next run removes the draft. `also` runs in that
 * transaction and may still throw an `RemoteRefusal`.
 */
export async function fillRepository(
  ctx: Ctx,
  { projectId, storage }: Place,
  fill: (repo: Repository, pending: ImportRow) => Promise<Filling>,
  also?: (tx: Tx, pending: ImportRow) => Promise<void>,
): Promise<void> {
  const place = projectRepositoryDir(ctx, { id: projectId, repository_storage: storage })
  // A project is filled by one job at a time, so a fixed name lets the next run find the draft.
  const draft = `${place}.import`
  await ctx.git.removeRepository(draft)
  const pending = await beginImport(ctx.db, projectId)
  if (!pending) return
  try {
    if (pending.attempts > maxAttempts) throw new RemoteRefusal('The import was interrupted too often.')
    const { repository_key: key } = pending
    await setAside(ctx, { id: projectId, repository_storage: storage, repository_key: key })
    // Left by a run that was interrupted between its last two steps.
    await ctx.git.removeRepository(place)
    await ctx.git.ensureRepository(draft, { defaultBranch: initialBranch, key })
    const repo = ctx.git.open(draft)
    const filling = await fill(repo, pending)
    await settle(ctx, projectId, { repo, place, filling, also: also && ((tx) => also(tx, pending)) })
  } catch (error) {
    if (!(error instanceof RemoteRefusal)) {
      if (lacksRoom(error) || error instanceof RemoteBusy) await forgetAttempt(ctx.db, projectId)
      throw error
    }
    await endInFailure(ctx, projectId, error.message)
  } finally {
    await ctx.git.removeRepository(draft)
  }
}

/** Marks an import as failed for good, unless it is over. */
export const endInFailure = (ctx: Ctx, projectId: number, error: string): Promise<boolean> =>
  ctx.transaction((tx) => endInFailureWith(tx, projectId, error))

/** The same in a transaction. False if it was over. */
export async function endInFailureWith(tx: Tx, projectId: number, error: string): Promise<boolean> {
  const hasFailed = await failImport(tx, projectId, error)
  if (hasFailed) await emit(tx, { kind: 'project_import_failed', projectId, actorId: null, payload: {} })
  return hasFailed
}

type Result = {
  repo: Repository
  place: string
  filling: Filling
  also: ((tx: Tx) => Promise<void>) | undefined
}

async function settle(ctx: Ctx, projectId: number, { repo, place, filling, also }: Result): Promise<void> {
  const branch = mainBranch(filling)
  if (branch !== null) await setDefaultBranch(repo, branch)
  await writeCommitGraph(repo)
  const facts = await repositoryFacts(repo, branch)
  const wantsSketches = await needsSketches(repo)
  await ctx.transaction(async (tx) => {
    // The second change of the project in a transaction locks its namespace, which a transfer locks before the project.
    await holdPlace(tx, { of: 'project', id: projectId })
    // What holds the lock of access adds members to the project, and must not wait for the records of an archive.
    if (!(await lockState(tx, projectId)) || !(await finishImport(tx, projectId, branch))) return
    if (branch !== null && !filling.bringsProtections)
      await protectFirstBranch(tx, projectId, branch, ctx.settings.default_branch_protection)
    await saveRepositoryFacts(tx, projectId, filling.refs.length > 0 ? facts : { ...facts, repositorySize: 0 })
    await also?.(tx)
    await emit(tx, {
      kind: 'project_imported',
      projectId,
      actorId: null,
      payload: { ref_count: filling.refs.length },
    })
    if (branch !== null) await enqueue(tx, refreshLanguages, { projectId })
    if (wantsSketches) await enqueue(tx, refreshSketches, { projectId })
    // Last step: if the commit fails, the next run removes the repository again.
    if (filling.refs.length > 0) await ctx.git.placeRepository(repo.gitDir, place)
  })
}

/** The default branch of the source if it was fetched; else the branch that a push would make the default. */
function mainBranch({ refs, defaultBranch }: Filling): string | null {
  const branches = new Set(refs.flatMap(({ name }) => branchName(name) ?? []).filter((name) => branchRef(name)))
  return [defaultBranch, 'master', 'main', ...branches].find((name) => name != null && branches.has(name)) ?? null
}
