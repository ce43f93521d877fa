import type { Ctx } from '../../../api/ctx.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { openForWriting, openRepository, type ProjectSubject } from '../../projects/index.ts'
import { openNothing, openSideForWriting, openSideRepository, type PushTarget } from '../../pushes/index.ts'
import type { SideTarget } from './side-kinds.ts'

/** The repository that a git client reads or writes, which `gitAccess` allowed. */
export type GitTarget = { readonly project: ProjectSubject } | { readonly side: SideTarget }

/** Opens a repository for a fetch. What has no repository yet is empty. */
export async function openToFetch(ctx: Ctx, target: GitTarget): Promise<Repository> {
  if ('project' in target) return openRepository(ctx, target.project)
  const { row } = target.side.subject
  return row ? openSideRepository(ctx, row) : openNothing(ctx)
}

/** Opens a repository for a push, creating what is missing of it; with what the journal calls it. */
export async function openToPush(ctx: Ctx, target: GitTarget): Promise<{ repo: Repository; of: PushTarget }> {
  if ('project' in target)
    return { repo: await openForWriting(ctx, target.project), of: { projectId: target.project.id } }
  const { holder, row: found } = target.side.subject
  const { row, repo } = await openSideForWriting(ctx, holder, found)
  return { repo, of: { sideRepositoryId: row.id } }
}

/** Logs what git could not read of a repository: only the client learns of it otherwise. */
export const damageLog =
  ({ log }: Ctx, target: GitTarget) =>
  (error: unknown): void => {
    const of =
      'project' in target ? { projectId: target.project.id } : { sideRepositoryId: target.side.subject.row?.id }
    log.error({ err: error, ...of }, 'git could not read a repository for a fetch')
  }
