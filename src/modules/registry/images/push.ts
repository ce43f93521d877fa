import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { ensureRepository, keepRepository, type LockedRepository, lockNamedRepository } from './queries.ts'

/** Name of a repository of a project; it need not exist yet. */
type Target = { readonly project: { readonly id: number }; readonly name: string }

/**
 * Runs `work`, which pushes to the repository with this name, in a transaction; the repository is created if there is none. The request to
 * delete a repository is either older, so that this is a new one, or waits until the transaction ends. Many such transactions run side by
 * side. `work` asks for the permission again after its last wait.
 */
export const inRepository = <T>(
  ctx: Pick<Ctx, 'transaction'>,
  target: Target,
  work: (tx: Tx, repositoryId: number) => Promise<T>,
): Promise<T> => inHeld(ctx, target, keepRepository, work)

/** As `inRepository`, one transaction at a time, with the repository locked as by `lockRepository`. */
export const inLockedRepository = <T>(
  ctx: Pick<Ctx, 'transaction'>,
  target: Target,
  work: (tx: Tx, repository: LockedRepository) => Promise<T>,
): Promise<T> => inHeld(ctx, target, lockNamedRepository, work)

async function inHeld<T, Held>(
  { transaction }: Pick<Ctx, 'transaction'>,
  { project, name }: Target,
  hold: (tx: Tx, projectId: number, name: string) => Promise<Held | undefined>,
  work: (tx: Tx, held: Held) => Promise<T>,
): Promise<T> {
  for (;;) {
    const done = await transaction(async (tx) => {
      const held = await hold(tx, project.id, name)
      return held === undefined ? undefined : { result: await work(tx, held) }
    })
    if (done) return done.result
    // In a transaction of its own: pushes that waited for the same deletion share the lock of the row, and none could hide it.
    await transaction(async (tx) => {
      await ensureRepository(tx, project.id, name)
      await tx.requirePermission?.()
    })
  }
}
