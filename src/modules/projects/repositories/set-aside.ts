import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { belongingOf } from '../../../git/repository/project-key.ts'
import { type Located, lostName, projectRepositoryDir } from './location.ts'
import { lockPlace } from './queries.ts'

/**
 * Moves what is at the place of a project and does not carry its key to lost+found, where nothing is overwritten or deleted.
 * Does nothing when the place is free or holds the project's own repository. Throws when it cannot be moved.
 */
export async function setAside(ctx: Ctx, project: Located, within?: Tx): Promise<void> {
  const dir = projectRepositoryDir(ctx, project)
  const isForeign = () => belongingOf(dir, project.repository_key) === 'foreign'
  if (!isForeign()) return
  const move = async (tx: Tx) => {
    // Without turns, a process that is late moves the repository that another has made in the meantime.
    await lockPlace(tx, dir)
    if (!isForeign()) return
    const target = lostName(ctx.repositoriesDir, project, dir)
    if (await ctx.git.moveAway(dir, target))
      ctx.log.error(
        { project_id: project.id, from: dir, to: target },
        'a repository without the key of its project was set aside',
      )
  }
  await (within ? move(within) : ctx.transaction(move))
}

const underWay = new Map<string, Promise<void>>()

/** The same in the background, for readers. */
export function setAsideSoon(ctx: Ctx, project: Located): void {
  const dir = projectRepositoryDir(ctx, project)
  if (underWay.has(dir)) return
  const moving = setAside(ctx, project)
    .catch((err) =>
      ctx.log.error(
        { err, project_id: project.id, from: dir },
        'a repository without the key of its project cannot be set aside',
      ),
    )
    .finally(() => underWay.delete(dir))
  underWay.set(dir, moving)
}
