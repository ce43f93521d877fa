import type { Ctx } from '../../api/ctx.ts'
import type { Repository } from '../../git/repository.ts'
import { repositoryDir } from './location.ts'

/** What of a project says where its repository is. */
type Located = { readonly id: number; readonly repository_storage: string }

export const projectRepositoryDir = (ctx: Ctx, project: Located): string =>
  repositoryDir(ctx.repositoriesDir, project.repository_storage, project.id)

/**
 * The project's repository, for as long as the caller waits and from its share of git processes. Costs nothing; one that
 * was never written to reads as empty.
 */
export const openRepository = (ctx: Ctx, project: Located): Repository =>
  ctx.git.open(projectRepositoryDir(ctx, project)).until(ctx.gone).for(ctx.shareKey)

/** The same for writing: makes the repository if this is the first write. */
export async function openForWriting(
  ctx: Ctx,
  project: Located & { default_branch: string | null },
): Promise<Repository> {
  const dir = projectRepositoryDir(ctx, project)
  await ctx.git.ensureRepository(dir, { defaultBranch: project.default_branch ?? initialBranch })
  return ctx.git.open(dir).for(ctx.shareKey)
}

/** What HEAD names until a first push says otherwise. */
export const initialBranch = 'master'
