import type { Ctx } from '../../../api/ctx.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { type QuickActions, saveWithActions } from '../../discussion/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { issueActionNames, issueActions } from '../issue-actions/commands.ts'
import { issueActionLocks } from '../issue-actions/locks.ts'
import { editIssue, type IssueEdit } from '../issues/edit.ts'
import type { FollowUp } from '../issues/follow-up.ts'
import { createIssue, type IssueInput } from '../issues/service.ts'
import { type IssueSubject, loadIssue } from '../issues/subject.ts'
import { withoutQuickActions } from '../quick-actions/description.ts'

/** The quick actions of an issue of a project, as it is now. */
async function actionsOf(ctx: Ctx, projectId: number, iid: number): Promise<QuickActions> {
  const subject = await loadIssue({ id: String(projectId), issue_iid: iid }, ctx)
  if (!subject) throw rowNotFound()
  return issueActions(subject)
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
  const { saved } = await saveWithActions(
    ctx,
    actions,
    issueActionLocks(project, undefined),
    (within) => createIssue(within, project, input, followUp),
    (now, { iid }) => actionsOf(now, project.id, iid),
  )
  return saved.id
}

/** Updates an issue and applies the quick actions of a new description, which does not keep them, in one transaction. */
export async function editDescribed(ctx: Ctx, subject: IssueSubject, given: IssueEdit): Promise<void> {
  const { input: edit, actions } = withoutQuickActions(given, issueActionNames)
  if (actions.length === 0) return editIssue(ctx, subject, edit)
  await saveWithActions(
    ctx,
    actions,
    issueActionLocks(subject.project, subject.id),
    (within) => editIssue(within, subject, edit),
    (now) => actionsOf(now, subject.project_id, subject.iid),
  )
}
