import type { Ctx } from '../../../api/ctx.ts'
import { loadProject } from '../../projects/index.ts'
import type { CompletedPush, PushAnswer } from '../../pushes/index.ts'
import { defaultTarget, mayCreate, proposable } from './branches.ts'
import { findSource, newestOpen } from './queries.ts'

/** Maximum branches of a push that is answered with links: more are a mirror or a migration. */
const maxBranches = 10

/** Links to the merge requests of the pushed branches, or to create them, unless the project has disabled them. */
export async function linksAfterPush(ctx: Ctx, { projectId, changes }: CompletedPush): Promise<PushAnswer['notices']> {
  const source = await loadProject(String(projectId), ctx)
  if (!source || proposable(changes, source).length === 0) return []
  const settings = await findSource(ctx.db, projectId)
  if (!settings?.prints_links) return []
  const target = await defaultTarget(ctx, source, settings.forked_from)
  const branches = proposable(changes, target)
  if (branches.length > maxBranches) return []
  const open = await newestOpen(ctx.db, ctx.actor, projectId, branches)
  const found = new Map(open.map((row) => [row.source_branch, `${row.full_path}/-/merge_requests/${row.iid}`]))
  const isCreatable = mayCreate(ctx, source, target)
  return branches.flatMap((branch) => {
    const path = found.get(branch)
    if (path !== undefined) return [[`View merge request for ${branch}:`, `  ${ctx.site.url}/${path}`]]
    if (!isCreatable) return []
    const query = `merge_request%5Bsource_branch%5D=${encodeURIComponent(branch)}`
    return [
      [
        `To create a merge request for ${branch}, visit:`,
        `  ${ctx.site.url}/${source.full_path}/-/merge_requests/new?${query}`,
      ],
    ]
  })
}
