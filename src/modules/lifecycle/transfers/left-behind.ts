import type { Tx } from '../../../db/db.ts'
import type { Moved } from '../../groups/index.ts'
import { copyLeftLabels, copyLeftMilestones, replaceLeftLabels, replaceLeftMilestones } from '../../planning/index.ts'

/**
 * Replaces labels and milestones of groups that are no longer ancestors with those of the same title in reach of the
 * projects, and creates missing ones. `before` and `now` are the ancestor groups, outermost first.
 */
export async function replaceLeftBehind(
  tx: Tx,
  projects: Moved['projects'],
  before: readonly number[],
  now: readonly number[],
): Promise<void> {
  const moved = { projects, leftGroups: before.filter((id) => !now.includes(id)) }
  if (moved.leftGroups.length === 0) return
  await copyLeftLabels(tx, moved)
  await replaceLeftLabels(tx, moved)
  await copyLeftMilestones(tx, moved)
  await replaceLeftMilestones(tx, moved)
}
