import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import { job } from '../../../jobs/job.ts'
import { Failure } from '../../../kernel/failure.ts'
import { asAccount } from '../../accounts/index.ts'
import { loadProject, openRepository } from '../../projects/index.ts'
import { canPushToBranch, loadProtections, moveRefs } from '../../pushes/index.ts'
import { findMerging } from './queries.ts'

/**
 * Removes the source branch after a merge with the rights that a user has now, or otherwise another one: the one who merged, or the
 * author. Skips protected and default branches, and branches pushed to since.
 */
export const removeMergedBranch = job({
  name: 'remove_merged_branch',
  input: Type.Object({
    mergeRequestId: Type.Integer(),
    actorId: Type.Integer(),
    otherwiseId: Type.Optional(Type.Integer()),
    oid: Type.String(),
  }),
  key: ({ mergeRequestId }) => `remove_merged_branch:${mergeRequestId}`,
  attempts: 5,
  async run({ mergeRequestId, actorId, otherwiseId, oid }, ctx) {
    const row = await findMerging(ctx.db, mergeRequestId)
    if (!row?.source) return
    const branch = { projectId: row.source.id, name: row.source_branch, oid: oid as Oid }
    if (!(await removeAs(ctx, actorId, branch)) && otherwiseId !== undefined) await removeAs(ctx, otherwiseId, branch)
  },
})

/** False if this user may not remove the branch. */
async function removeAs(
  ctx: Ctx,
  userId: number,
  { projectId, name: branch, oid }: { readonly projectId: number; readonly name: string; readonly oid: Oid },
): Promise<boolean> {
  const asker = await asAccount(ctx, userId)
  const project = asker && (await loadProject(String(projectId), asker))
  const name = branchRef(branch)
  if (!project || !name || project.default_branch === branch) return false
  const protections = await loadProtections(asker, project)
  if (protections.isProtected('branch', branch) || !canPushToBranch(asker, project, protections, branch)) return false
  try {
    await moveRefs(asker, project.id, openRepository(asker, project), [{ name, from: oid, to: null }])
    return true
  } catch (error) {
    // The user lost the permission meanwhile.
    if (!(error instanceof Failure && error.kind === 'forbidden')) throw error
    return false
  }
}
