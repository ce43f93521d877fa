import { Type } from 'typebox'
import { listRefTips } from '../../../git/refs/refs.ts'
import { job } from '../../../jobs/job.ts'
import { longJobLimits } from '../../../jobs/limits.ts'
import { openRepository, projectOnBehalf } from '../../projects/index.ts'
import { loadProtections, moveRefs } from '../../pushes/index.ts'
import { defaultTip, nameOfBranch } from './service.ts'

/** Maximum branches per push. */
const batch = 100

/**
 * Deletes branches that are merged into the default branch, on behalf of the user who requested it and only as far as
 * they may. Skips the default and protected branches.
 */
export const deleteMergedBranches = job({
  name: 'delete_merged_branches',
  slow: true,
  input: Type.Object({ projectId: Type.Integer(), actorId: Type.Integer() }),
  key: ({ projectId, actorId }) => `delete_merged_branches:${projectId}:${actorId}`,
  alone: ({ projectId }) => `repository:${projectId}`,
  limits: async ({ actorId }) => longJobLimits(actorId),
  attempts: 5,
  async run({ projectId, actorId }, ctx) {
    const permitted = await projectOnBehalf(ctx, actorId, projectId, 'push_code')
    if (!permitted) return
    const { user: requester, project } = permitted
    const repo = openRepository(requester, project)
    const [tip, protections] = await Promise.all([defaultTip(repo, project), loadProtections(requester, project)])
    if (!tip) return
    const merged = (await listRefTips(repo, 'refs/heads/', { mergedInto: tip })).filter((ref) => {
      const name = nameOfBranch(ref)
      return ref.oid !== tip && name !== project.default_branch && !protections.isProtected('branch', name)
    })
    for (let at = 0; at < merged.length; at += batch) {
      const changes = merged.slice(at, at + batch).map(({ name, oid }) => ({ name, from: oid, to: null }))
      if ((await moveRefs(requester, projectId, repo, changes)) === 'moved') continue
      // One of the branches changed meanwhile: that one stays.
      for (const change of changes) await moveRefs(requester, projectId, repo, [change])
    }
  },
})
