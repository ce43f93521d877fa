import type { Ctx } from '../../../api/ctx.ts'
import { belongingOf } from '../../../git/repository/project-key.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { Failure } from '../../../kernel/failure.ts'
import { type Located, projectRepositoryDir } from './location.ts'
import { setAside, setAsideSoon } from './set-aside.ts'

/**
 * The project's repository, for as long as the caller waits and from their share of git processes. Costs a `stat`. A repository
 * that was never written to reads as empty, and so does a place that holds one with another key, which is set aside.
 */
export function openRepository(ctx: Ctx, project: Located): Repository {
  const dir = projectRepositoryDir(ctx, project)
  const belonging = belongingOf(dir, project.repository_key)
  if (belonging !== 'foreign') {
    const repo = ctx.git.open(dir, project.repository_key)
    // This process may have read it before another moved it away.
    if (belonging === 'absent') repo.lookAgain()
    return repo.withSignal(ctx.signal).for(ctx.shareKey)
  }
  setAsideSoon(ctx, project)
  // A path where nothing is ever made.
  return ctx.git.open(`${dir}.absent`)
}

/** The same for writing: makes the repository if this is the first write. */
export async function openForWriting(
  ctx: Ctx,
  project: Located & { default_branch: string | null },
): Promise<Repository> {
  const dir = projectRepositoryDir(ctx, project)
  const key = project.repository_key
  if (belongingOf(dir, key) !== 'own') {
    await setAside(ctx, project)
    await ctx.git.ensureRepository(dir, { defaultBranch: project.default_branch ?? initialBranch, key })
    if (belongingOf(dir, key) !== 'own')
      throw new Failure('unavailable', 'The repository of this project is not available')
  }
  return ctx.git.open(dir, key).for(ctx.shareKey)
}

/** What HEAD names until a first push says otherwise. */
export const initialBranch = 'master'
