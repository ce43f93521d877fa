import { Type } from 'typebox'
import type { Oid } from '../../../git/format/oid.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import { job } from '../../../jobs/job.ts'
import { Failure } from '../../../kernel/failure.ts'
import { asAccount } from '../../accounts/index.ts'
import { loadProject, openRepository } from '../../projects/index.ts'
import { canPushToBranch, loadProtections, moveRefs } from '../../pushes/index.ts'
import { findMerging } from './queries.ts'

/**
 * Removes the source branch after a merge with the rights that a user has now: the one who merged, or the author. Skips protected and
 * default branches, and branches pushed to since.
 */
export const removeMergedBranch = job({
  name: 'remove_merged_branch',
  input: Type.Object({ mergeRequestId: Type.Integer(), actorId: Type.Integer(), oid: Type.String() }),
  key: ({ mergeRequestId }) => `remove_merged_branch:${mergeRequestId}`,
  attempts: 5,
  async run({ mergeRequestId, actorId, oid }, ctx) {
    const asker = await asAccount(ctx, actorId)
    const row = await findMerging(ctx.db, mergeRequestId)
    if (!asker || !row?.source) return
    const project = await loadProject(String(row.source.id), asker)
    const name = branchRef(row.source_branch)
    if (!project || !name || project.default_branch === row.source_branch) return
    const protections = await loadProtections(asker, project)
    if (protections.isProtected('branch', row.source_branch)) return
    if (!canPushToBranch(asker, project, protections, row.source_branch)) return
    const change = { name, from: oid as Oid, to: null }
    try {
      await moveRefs(asker, project.id, openRepository(asker, project), [change])
    } catch (error) {
      // The user lost the permission meanwhile.
      if (!(error instanceof Failure && error.kind === 'forbidden')) throw error
    }
  },
})
