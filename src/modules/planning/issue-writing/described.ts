import type { Ctx } from '../../../api/ctx.ts'
import { inOneTransaction } from '../../../api/within-transaction.ts'
import type { Tx } from '../../../db/db.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import type { QuickAction } from '../../discussion/index.ts'
import { holdPlace } from '../../groups/index.ts'
import { lockState, type ProjectSubject } from '../../projects/index.ts'
import { issueActionNames, issueActions } from '../issue-actions/commands.ts'
import { editIssue, type IssueEdit } from '../issues/edit.ts'
import type { FollowUp } from '../issues/follow-up.ts'
import { createIssue, type IssueInput } from '../issues/service.ts'
import { type IssueSubject, loadIssue } from '../issues/subject.ts'
import { withoutQuickActions } from '../quick-actions/description.ts'

/** Applies quick actions of a description to an issue of a project, as it is now. */
async function apply(ctx: Ctx, projectId: number, iid: number, actions: readonly QuickAction[]): Promise<void> {
  const subject = await loadIssue({ id: String(projectId), issue_iid: iid }, ctx)
  if (!subject) throw rowNotFound()
  await issueActions(subject).apply(ctx, actions)
}

/** Actions change labels and the state: both locks come before that of the issue. */
const lockPlace = (projectId: number) => async (tx: Tx) => {
  await holdPlace(tx, { of: 'project', id: projectId })
  await lockState(tx, projectId)
}

/**
 * Creates an issue and applies the quick actions of its description, which does not keep them, in one transaction: a crash in between
 * would lose them. Returns its id.
 */
export async function createDescribed(
  ctx: Ctx,
  project: ProjectSubject,
  given: IssueInput,
  followUp: FollowUp | undefined,
): Promise<number> {
  const { input, actions } = withoutQuickActions(given, issueActionNames)
  if (actions.length === 0) return (await createIssue(ctx, project, input, followUp)).id
  return inOneTransaction(ctx, lockPlace(project.id), async (within) => {
    const { id, iid } = await createIssue(within, project, input, followUp)
    await apply(within, project.id, iid, actions)
    return id
  })
}

/** Updates an issue and applies the quick actions of a new description, which does not keep them, in one transaction. */
export async function editDescribed(ctx: Ctx, subject: IssueSubject, given: IssueEdit): Promise<void> {
  const { input: edit, actions } = withoutQuickActions(given, issueActionNames)
  if (actions.length === 0) return editIssue(ctx, subject, edit)
  await inOneTransaction(ctx, lockPlace(subject.project_id), async (within) => {
    await editIssue(within, subject, edit)
    await apply(within, subject.project_id, subject.iid, actions)
  })
}
