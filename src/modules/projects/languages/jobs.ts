import { branchRef } from '../../../git/ref-name.ts'
import { readRef } from '../../../git/refs.ts'
import { job } from '../../../jobs/job.ts'
import { findProject } from '../projects/queries.ts'
import { languagesRefreshDue } from '../projects/refresh-due.ts'
import { openRepository } from '../repositories/open.ts'
import { languagesCommit, saveLanguages } from './queries.ts'
import { languageShares } from './shares.ts'

/** After pushes to the default branch, or when it is another: counts its languages. */
export const refreshLanguages = job({
  ...languagesRefreshDue,
  async run({ projectId }, ctx) {
    const project = await findProject(ctx.db, null, projectId)
    if (!project) return
    const repo = openRepository(ctx, project)
    const ref = project.default_branch === null ? undefined : branchRef(project.default_branch)
    const head = (ref && (await readRef(repo, ref))) ?? null
    if (head === (await languagesCommit(ctx.db, projectId))) return
    const shares = head === null ? [] : await languageShares(repo, head)
    await ctx.transaction((tx) => saveLanguages(tx, projectId, head, shares))
  },
})
