import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import type { Moved } from '../../groups/index.ts'
import {
  copyLeftLabels,
  copyLeftMilestones,
  followPriorities,
  lockWithLeft,
  replaceLeftLabels,
} from '../../planning/index.ts'

/**
 * What has labels or milestones of groups that are no longer around gets those of the same titles that the projects now have,
 * which are made where there are none. `before` and `now` are the groups around, the outermost first; `place` is what moved.
 */
export async function replaceLeftBehind(
  tx: Tx,
  projects: Moved['projects'],
  before: readonly number[],
  now: readonly number[],
  place: ({ readonly projectId: number } | { readonly groupId: number }) & { readonly actorId: number },
): Promise<void> {
  const moved = { projects, leftGroups: before.filter((id) => !now.includes(id)) }
  if (moved.leftGroups.length === 0) return
  await copyLeftMilestones(tx, moved)
  await lockWithLeft(tx, moved)
  await copyLeftLabels(tx, moved)
  await followPriorities(tx, await replaceLeftLabels(tx, moved))
  await emit(tx, { kind: 'projects_left_groups', ...place, payload: {}, facts: { left_group_ids: moved.leftGroups } })
}
