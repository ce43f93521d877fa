import type { Ctx } from '../../../api/ctx.ts'
import { belongingOf } from '../../../git/repository/project-key.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { type Located, projectRepositoryDir } from './location.ts'
import { isProjectThere } from './queries.ts'
import { setAside, setAsideSoon } from './set-aside.ts'

/**
 * Opens the project's repository; its git processes end when the client disconnects and count against the caller's
 * share. Costs a `stat`. A missing repository reads as empty, as does one with another key, which is moved to
 * lost+found.
 */
export function openRepository(ctx: Ctx, project: Located): Repository {
  const dir = projectRepositoryDir(ctx, project)
  const belonging = belongingOf(dir, project.repository_key)
  if (belonging !== 'foreign') {
    const repo = ctx.git.open(dir, project.repository_key)
    // This process may have cached it before another process moved it away.
    if (belonging === 'absent') repo.lookAgain()
    const own = repo.withSignal(ctx.signal).for(ctx.shareKey)
    return ctx.holdsTransfer ? own.nested() : own
  }
  setAsideSoon(ctx, project)
  // A path where no repository is ever created.
  return ctx.git.open(`${dir}.absent`)
}

/**
 * As `openRepository`, for writing: creates the repository if it is missing. Throws `not_found` if the project has been deleted since it was
 * loaded; `isThere` says so, by default of a project.
 */
export async function openForWriting(
  ctx: Ctx,
  project: Located & { default_branch: string | null },
  isThere: () => Promise<boolean> = () => isProjectThere(ctx.db, project.id),
): Promise<Repository> {
  ctx.outside?.prepare()
  const dir = projectRepositoryDir(ctx, project)
  const key = project.repository_key
  if (belongingOf(dir, key) !== 'own') {
    await setAside(ctx, project)
    const made = await ctx.git.ensureRepository(dir, { defaultBranch: project.default_branch ?? initialBranch, key })
    // The files of a project go after it was marked: what is made later would stay for ever.
    if (made && !(await isThere())) {
      await ctx.git.removeRepository(dir)
      throw notFound(project.side ? 'Repository' : 'Project')
    }
    if (belongingOf(dir, key) !== 'own')
      throw new Failure('unavailable', 'The repository of this project is not available')
  }
  return ctx.git.open(dir, key).for(ctx.shareKey)
}

/** Target of HEAD until the first push. */
export const initialBranch = 'master'
