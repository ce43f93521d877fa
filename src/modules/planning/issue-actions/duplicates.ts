import { issuePolicy } from '../../../access/issue-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { forbidden } from '../../../kernel/failure.ts'
import { addNotesOnBothSides } from '../../discussion/index.ts'
import { saveDuplicatedTo } from '../issues/edit-queries.ts'
import { emitIssue } from '../issues/events.ts'
import { asNamed } from '../issues/noteable.ts'
import { lockIssue } from '../issues/queries.ts'
import { type IssueSubject, issueNotFound, loadIssueById } from '../issues/subject.ts'

/** An issue on which the caller may comment. */
export async function commentable(ctx: Ctx, id: number): Promise<IssueSubject | undefined> {
  const found = await loadIssueById(id, ctx)
  return found && allows(issuePolicy.comment, ctx.actor, found.facts) ? found : undefined
}

/** Stores of which other issue this one is a duplicate, with a note on each. Throws if the caller may no longer comment on the other. */
export async function markAsDuplicate(ctx: Ctx, issue: IssueSubject, other: IssueSubject): Promise<void> {
  const actorId = ctx.actor!.id
  await ctx.transaction(async (tx) => {
    let earlier: number | null = null
    for (const id of [issue.id, other.id].toSorted((a, b) => a - b)) {
      const row = await lockIssue(tx, id)
      if (!row) throw issueNotFound()
      if (id === issue.id) earlier = row.duplicated_to_id
    }
    if (!(await commentable({ ...ctx, db: tx }, other.id))) throw forbidden()
    if (earlier !== other.id) {
      await saveDuplicatedTo(tx, issue.id, other.id)
      const changes = { duplicated_to_id: [earlier, other.id] } as const
      await emitIssue(tx, issue.id, { kind: 'issue_updated', actorId, changes })
    }
    await addNotesOnBothSides(tx, actorId, [
      { on: asNamed(issue), text: (name) => `marked this issue as a duplicate of ${name}` },
      { on: asNamed(other), text: (name) => `marked ${name} as a duplicate of this issue` },
    ])
  })
}
