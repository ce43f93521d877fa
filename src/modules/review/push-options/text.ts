import type { Ctx } from '../../../api/ctx.ts'
import { readCommit, titleOf } from '../../../git/objects/commits.ts'
import { capitalized } from '../../../kernel/capitalized.ts'
import { openRepository } from '../../projects/index.ts'
import { shortened } from '../merge-requests/title.ts'
import { type Branches, findVersion } from '../merge-requests/versions.ts'

/** Maximum characters of a description that is taken from a commit. */
const longestDescription = 100_000

export type Text = { readonly title: string; readonly description?: string | undefined }

/**
 * Title and description for a new merge request without a title: of its commit if it has a single one, otherwise of the name of
 * the branch. Costs as much as a version, which is cached.
 */
export async function textFromCommits(ctx: Ctx, branches: Branches): Promise<Text> {
  const { commits } = await findVersion(ctx, branches)
  const commit = commits.length === 1 ? await readCommit(openRepository(ctx, branches.target), commits[0]!) : undefined
  const message = commit?.message.trim()
  if (!message) return { title: titleFromBranch(branches.sourceBranch) }
  const title = titleOf(message)
  const body = message.slice(title.length).trim().slice(0, longestDescription).toWellFormed()
  return { title: shortened(title), ...(body !== '' && { description: body }) }
}

/** `feature/add-labels` → `Feature/add labels`. */
function titleFromBranch(branch: string): string {
  const words = branch.replaceAll(/[-_]+/g, ' ').trim() || branch
  return shortened(capitalized(words))
}
