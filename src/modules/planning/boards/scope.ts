import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { readersAmong } from '../../discussion/index.ts'
import type { ProjectOrGroupHolder } from '../../groups/index.ts'
import { isActiveMember, mayUseLabel, mayUseMilestone } from './queries.ts'

/** What a board or a list of it refers to, by parameter. */
type Referred = 'label_id' | 'assignee_id' | 'milestone_id'

/**
 * Whether a board of the project or group may refer to this: a label or milestone of its own or of a group above it, a user who reads
 * issues of the project or is a member of the group.
 */
export async function mayRefer(
  tx: Tx,
  { actor }: Ctx,
  holder: ProjectOrGroupHolder,
  what: Referred,
  id: number,
): Promise<boolean> {
  switch (what) {
    case 'label_id':
      return mayUseLabel(tx, holder, actor, id)
    case 'milestone_id':
      return mayUseMilestone(tx, holder, actor, id)
    case 'assignee_id':
      return holder.of === 'project'
        ? (await readersAmong(tx, 'Issue', holder.id, [id])).length > 0
        : isActiveMember(tx, holder.id, id)
  }
}
