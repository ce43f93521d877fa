import type { Ctx } from '../../../api/ctx.ts'
import { lockState } from '../../projects/index.ts'
import { deleteIssue, lockContinued } from './edit-queries.ts'
import { emitIssue } from './events.ts'
import { lockIssue } from './queries.ts'
import { type IssueSubject, issueNotFound } from './subject.ts'

/** Deletes an issue with its notes. */
export async function removeIssue(ctx: Ctx, { id, project_id }: IssueSubject): Promise<void> {
  await ctx.transaction(async (tx) => {
    // Which counts its issues: who creates one locks both before an issue to which the text refers.
    await lockState(tx, project_id)
    await lockContinued(tx, id, 'older')
    const held = await lockIssue(tx, id, 'delete')
    if (!held) throw issueNotFound()
    await lockContinued(tx, id, 'newer')
    await emitIssue(tx, id, { kind: 'issue_deleted', actorId: ctx.actor!.id, confidential: held.confidential })
    await deleteIssue(tx, id)
  })
}
