import type { Ctx } from '../../../api/ctx.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { openForWriting, openRepository } from '../../projects/index.ts'
import { createSideRepository, isHeld, type SideHolder, type SideRepository } from './queries.ts'

/** Opens a side repository for reading, as `openRepository` opens that of a project. */
export const openSideRepository = (ctx: Ctx, row: SideRepository): Repository => openRepository(ctx, row)

/** A repository without content, for holders that have none yet. Nothing can be written to it. */
export const openNothing = async (ctx: Ctx): Promise<Repository> =>
  ctx.git
    .open(await ctx.git.emptyDir())
    .withSignal(ctx.signal)
    .for(ctx.shareKey)

/** Opens a side repository for writing, and creates what is missing of it: the row, and the files. */
export async function openSideForWriting(
  ctx: Ctx,
  holder: SideHolder,
  row: SideRepository | undefined,
): Promise<{ row: SideRepository; repo: Repository }> {
  const made = row ?? (await ctx.transaction((tx) => createSideRepository(tx, holder)))
  return { row: made, repo: await openHeldForWriting(ctx, made) }
}

/** As `openForWriting`. Throws `not_found` if the holder has been deleted since the row was read. */
export const openHeldForWriting = (ctx: Ctx, row: SideRepository): Promise<Repository> =>
  openForWriting(ctx, row, () => isHeld(ctx.db, row.id))
