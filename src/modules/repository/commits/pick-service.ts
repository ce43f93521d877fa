import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import { type Commit, readCommit, readTip } from '../../../git/objects/commits.ts'
import { readRef } from '../../../git/refs/refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { invalid, notFound } from '../../../kernel/failure.ts'
import { openRepository, type ProjectSubject } from '../../projects/index.ts'
import { requireBranchAccess } from './branch-access.ts'
import { moveBranch } from './move-branch.ts'
import { applyPick, type Pick } from './pick.ts'
import { findCommitId } from './revision.ts'

export type PickRequest = {
  readonly sha: string
  readonly branch: string
  /** Only tests whether the change applies. */
  readonly dry_run: boolean
}

/** Applies the change that `pickOf` derives from a commit to the tip of a branch and moves the branch. */
export async function pickOnto(
  ctx: Ctx,
  project: ProjectSubject,
  { sha, branch, dry_run }: PickRequest,
  pickOf: (repo: Repository, commit: Commit) => Promise<Pick>,
): Promise<Commit> {
  await requireBranchAccess(ctx, project, branch, 'forbidden')
  const repo = openRepository(ctx, project)
  const id = await findCommitId(repo, sha)
  const commit = id && (await readCommit(repo, id))
  if (!commit) throw notFound('Commit')
  const ref = branchRef(branch)
  if (!ref) throw invalid('The branch refname is invalid')
  const pick = await pickOf(repo, commit)
  const make = async (tip: Oid | null) => {
    if (tip === null) throw notFound('Branch')
    return applyPick(repo, pick, await readTip(repo, tip))
  }
  if (dry_run) return (await make((await readRef(repo, ref)) ?? null)).commit
  return moveBranch(ctx, { project, repo, branch, ref, refusal: 'forbidden' }, make)
}
