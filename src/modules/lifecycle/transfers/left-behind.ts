import type { Tx } from '../../../db/db.ts'
import type { Moved } from '../../groups/index.ts'
import { copyLeftLabels, copyLeftMilestones, replaceLeftLabels, replaceLeftMilestones } from '../../planning/index.ts'

/**
 * What has labels or milestones of groups that are no longer around gets those of the same titles that the projects now have,
 * which are made where there are none. `before` and `now` are the groups around, the outermost first.
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
