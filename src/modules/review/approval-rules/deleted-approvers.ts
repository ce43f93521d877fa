import type { Tx } from '../../../db/db.ts'
import { emitAll } from '../../../events/log.ts'
import type { AccountOrGroupDeleted } from '../../groups/index.ts'
import { rulesNaming } from './queries.ts'

/**
 * Records the rules that named an account or group that is deleted. They require as many approvals as before, of the others that they
 * name; what names it is deleted with its row.
 */
export async function recordLostApprovers(tx: Tx, event: AccountOrGroupDeleted): Promise<void> {
  const rules = await rulesNaming(tx, event)
  await emitAll(
    tx,
    rules.map(({ id, name, project_id, group_id, merge_request_id }) => ({
      kind: 'approval_rule_updated',
      ...(project_id === null ? { groupId: group_id! } : { projectId: project_id }),
      actorId: event.actorId,
      payload: { approval_rule_id: id, ...(merge_request_id !== null && { merge_request_id }) },
      facts: { name },
    })),
  )
}
