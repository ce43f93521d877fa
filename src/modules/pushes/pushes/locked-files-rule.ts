import { accountOf } from '../../../access/actor.ts'
import { pathsOfNewCommits } from '../../../git/history/new-commits.ts'
import { findLockOfOthers, othersHaveLocks } from '../large-files/lock-queries.ts'
import { openStorage } from '../large-files/storage.ts'
import { onNew, type PushRule } from './rule.ts'

/**
 * Refuses new commits that change a file that another user has locked, whichever way and to whichever ref they come: clients of LFS ask for the
 * locks before a push, but others do not. Commits that are in the repository already may be merged. One statement, and a process
 * if others have locks. It skips pull mirrors, which bring what the other server has accepted.
 */
export const lockedFilesRule: PushRule = onNew(async ({ ctx, project, mode, changes, objects }) => {
  const tips = changes.flatMap(({ to }) => to ?? [])
  if (mode.transport === 'system' || tips.length === 0 || !ctx.settings.lfs_enabled) return undefined
  const userId = ctx.actor && accountOf(ctx.actor)
  if (!(await othersHaveLocks(ctx.db, project.id, userId))) return undefined
  if (!(await openStorage(ctx, project)).enabled) return undefined
  for await (const paths of pathsOfNewCommits(await objects(), tips)) {
    const lock = await findLockOfOthers(
      ctx.db,
      project.id,
      userId,
      paths.filter((path) => path.isWellFormed()),
    )
    if (lock) return `The path '${lock.path}' is locked in Git LFS by ${lock.owner_name}`
  }
  return undefined
})
