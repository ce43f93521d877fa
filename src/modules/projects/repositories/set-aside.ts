import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { belongingOf } from '../../../git/repository/project-key.ts'
import { type Located, lostName, projectRepositoryDir } from './location.ts'
import { lockDirectory } from './queries.ts'

/**
 * Moves a repository without the key of the project (or side repository) from its place to lost+found. Overwrites and
 * deletes nothing. No effect if the place is free or has the own repository. Throws if the move fails.
 */
export async function setAside(ctx: Ctx, project: Located, within?: Tx): Promise<void> {
  const dir = projectRepositoryDir(ctx, project)
  const isForeign = () => belongingOf(dir, project.repository_key) === 'foreign'
  if (!isForeign()) return
  const move = async (tx: Tx) => {
    // Without the lock, a slow process could move away the repository that another has created in the meantime.
    await lockDirectory(tx, dir)
    if (!isForeign()) return
    const target = lostName(ctx.repositoriesDir, project, dir)
    if (await ctx.git.moveAway(dir, target))
      ctx.log.error({ ...idOf(project), from: dir, to: target }, 'moved a repository without its key to lost+found')
  }
  await (within ? move(within) : ctx.transaction(move))
}

const idOf = ({ id, side }: Located) => (side ? { side_repository_id: id } : { project_id: id })

const inProgress = new Map<string, Promise<void>>()

/** As `setAside`, in the background, for readers. */
export function setAsideSoon(ctx: Ctx, project: Located): void {
  const dir = projectRepositoryDir(ctx, project)
  if (inProgress.has(dir)) return
  const moving = setAside(ctx, project)
    .catch((err) =>
      ctx.log.error({ err, ...idOf(project), from: dir }, 'failed to move a repository without its key to lost+found'),
    )
    .finally(() => inProgress.delete(dir))
  inProgress.set(dir, moving)
}
