import { Type } from 'typebox'
import { branchRef } from '../../../git/format/ref-name.ts'
import { readRef } from '../../../git/refs/refs.ts'
import { job } from '../../../jobs/job.ts'
import { findProject } from '../projects/queries.ts'
import { openRepository } from '../repositories/open.ts'
import { languagesCommit, saveLanguages } from './queries.ts'
import { languageShares } from './shares.ts'

/**
 * Counts the languages of the default branch after a push to it or a change of the default branch (src/reactions.ts).
 * One project at a time, because it uses a whole CPU core.
 */
export const refreshLanguages = job({
  name: 'refresh_languages',
  slow: true,
  input: Type.Object({ projectId: Type.Integer() }),
  key: ({ projectId }) => `refresh_languages:${projectId}`,
  queue: () => 'languages',
  throttled: true,
  // Retries for over four minutes, so that records are updated after a short outage of the database.
  attempts: 6,
  async run({ projectId }, ctx) {
    const project = await findProject(ctx.db, null, projectId)
    if (!project) return
    const repo = openRepository(ctx, project)
    const ref = project.default_branch === null ? undefined : branchRef(project.default_branch)
    const head = (ref && (await readRef(repo, ref))) ?? null
    if (head === (await languagesCommit(ctx.db, projectId))) return
    const { shares, isComplete } = head === null ? { shares: [], isComplete: true } : await languageShares(repo, head)
    // Another attempt would take as long, while other projects wait.
    if (!isComplete)
      ctx.log.warn(
        { project_id: projectId, commit: head },
        'languages of a commit take too much time or memory to find',
      )
    await ctx.transaction((tx) => saveLanguages(tx, projectId, head, shares))
  },
})
