import { emitAll } from '../../../events/log.ts'
import { toEvents } from '../../../events/reaction.ts'
import { type AccountOrGroupDeleted, deletedBy } from '../../groups/index.ts'
import { rulesNaming } from './queries.ts'

/**
 * Records the rules that named an account or group that is deleted. They require as many approvals as before, of the others that they
 * name; what names it is deleted with its row.
 */
export const recordLostApprovers = toEvents<AccountOrGroupDeleted>(async (tx, events) => {
  const deleted = deletedBy(events)
  if (!deleted) return
  const rules = await rulesNaming(tx, deleted)
  await emitAll(
    tx,
    rules.map(({ id, name, project_id, group_id, merge_request_id }) => ({
      kind: 'approval_rule_updated',
      ...(project_id === null ? { groupId: group_id! } : { projectId: project_id }),
      actorId: events[0]!.actorId,
      payload: { approval_rule_id: id, ...(merge_request_id !== null && { merge_request_id }) },
      facts: { name },
    })),
  )
})
