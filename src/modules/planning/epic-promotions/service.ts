import { groupPolicy } from '../../../access/group-policy.ts'
import { issuePolicy } from '../../../access/issue-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { forbidden, invalid, notFound } from '../../../kernel/failure.ts'
import {
  addNotesOnBothSides,
  addSystemNote,
  copyDiscussion,
  noteMentions,
  qualifyReferences,
  qualifyUploads,
} from '../../discussion/index.ts'
import { type GroupSubject, holdPlace, loadGroup } from '../../groups/index.ts'
import { lockState } from '../../projects/index.ts'
import { insertEpic } from '../epics/edit-queries.ts'
import { emitEpic } from '../epics/events.ts'
import { asNoteable as asEpic } from '../epics/noteable.ts'
import { closeIssue } from '../issues/close.ts'
import { readIssueFacts } from '../issues/event-queries.ts'
import { asNoteable as asIssue } from '../issues/noteable.ts'
import { lockIssue } from '../issues/queries.ts'
import { type IssueSubject, issueNotFound, loadIssueById } from '../issues/subject.ts'
import { setLabels } from '../labels/assign.ts'

/** The group in which the caller may make an epic of an issue. Throws if there is none. */
async function groupFor(ctx: Ctx, { project, facts }: IssueSubject): Promise<GroupSubject> {
  const group = await loadGroup(project.namespace_id, ctx)
  if (!group) throw invalid('The project of the issue does not belong to a group')
  const may =
    allows(issuePolicy.update_issue, ctx.actor, facts) && allows(groupPolicy.create_epic, ctx.actor, group.facts)
  if (!may) throw forbidden()
  return group
}

/**
 * Creates an epic like an issue, in the group of its project, and closes the issue: with title, description, confidentiality, the labels of
 * groups, and what was said. The caller may change the issue, and must be allowed to create epics.
 */
export async function promoteIssue(ctx: Ctx, subject: IssueSubject): Promise<void> {
  await groupFor(ctx, subject)
  const actorId = ctx.actor!.id
  await ctx.transaction(async (tx) => {
    // Before the issue, as transfers lock them.
    await holdPlace(tx, { of: 'project', id: subject.project_id })
    await lockState(tx, subject.project_id)
    const row = await lockIssue(tx, subject.id)
    const now = row && (await loadIssueById(row.id, { ...ctx, db: tx }))
    if (!row || !now) throw issueNotFound()
    const group = await groupFor({ ...ctx, db: tx }, now)
    const { full_path } = now.project
    const rewrite = (text: string): string => qualifyUploads(qualifyReferences(text, full_path), full_path)
    if (row.state !== 'opened') throw invalid('The issue is closed')
    const description = row.description && rewrite(row.description)
    const { labels } = await readIssueFacts(tx, row.id)
    const made = await insertEpic(tx, {
      groupId: group.id,
      authorId: actorId,
      title: row.title,
      description,
      confidential: row.confidential,
      startDateIsFixed: false,
      startDateFixed: null,
      dueDateIsFixed: false,
      dueDateFixed: null,
    })
    if (!made) throw notFound('Group')
    const [issue, epic] = [asIssue(row), asEpic({ id: made.id, group_id: group.id })]
    const titles = labels.map(({ name }) => name)
    await setLabels(tx, ctx, epic, titles, { create: false })
    await copyDiscussion(tx, issue, epic, { around: true, rewrite })
    if (description) await noteMentions(tx, epic, { text: description, authorId: actorId, isNew: true })
    await addNotesOnBothSides(tx, actorId, [
      { on: { ...epic, iid: made.iid, full_path: group.full_path }, text: (name) => `promoted from issue ${name}` },
      { on: { ...issue, iid: row.iid, full_path }, text: (name) => `promoted to epic ${name}` },
    ])
    if (await closeIssue(tx, row.id, actorId)) await addSystemNote(tx, issue, actorId, 'closed')
    await emitEpic(tx, made.id, { kind: 'epic_opened', actorId })
  })
}
