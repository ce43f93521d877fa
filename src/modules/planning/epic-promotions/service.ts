import { groupPolicy } from '../../../access/group-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { forbidden, invalid, notFound } from '../../../kernel/failure.ts'
import {
  addSystemNote,
  copyDiscussion,
  insertCrossReference,
  noteMentions,
  qualifyReferences,
  qualifyUploads,
  references,
} from '../../discussion/index.ts'
import { loadGroup } from '../../groups/index.ts'
import { insertEpic } from '../epics/edit-queries.ts'
import { emitEpic } from '../epics/events.ts'
import { asNoteable as asEpic } from '../epics/noteable.ts'
import { closeIssue } from '../issues/close.ts'
import { readIssueFacts } from '../issues/event-queries.ts'
import { asNoteable as asIssue } from '../issues/noteable.ts'
import { lockIssue } from '../issues/queries.ts'
import { type IssueSubject, issueNotFound } from '../issues/subject.ts'
import { setLabels } from '../labels/assign.ts'

/**
 * Creates an epic like an issue, in the group of its project, and closes the issue: with title, description, confidentiality, the labels of
 * groups, and what was said. The caller may change the issue, and must be allowed to create epics.
 */
export async function promoteIssue(ctx: Ctx, subject: IssueSubject): Promise<void> {
  const { full_path, namespace_id } = subject.project
  const group = await loadGroup(namespace_id, ctx)
  if (!group) throw invalid('The project of the issue does not belong to a group')
  if (!allows(groupPolicy.create_epic, ctx.actor, group.facts)) throw forbidden()
  const actorId = ctx.actor!.id
  const rewrite = (text: string): string => qualifyUploads(qualifyReferences(text, full_path), full_path)
  await ctx.transaction(async (tx) => {
    const row = await lockIssue(tx, subject.id)
    if (!row) throw issueNotFound()
    if (row.state !== 'opened') throw invalid('The issue is closed')
    const description = row.description && rewrite(row.description)
    const { labels } = await readIssueFacts(tx, row.id)
    const made = await insertEpic(tx, {
      groupId: group.id,
      authorId: actorId,
      createdAt: undefined,
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
    const names = {
      issue: references('Issue', { ...row, full_path }, { of: 'group', full_path: group.full_path }).relative,
      epic: references(
        'Epic',
        { iid: made.iid, full_path: group.full_path },
        { of: 'project', id: row.project_id, full_path },
      ).relative,
    }
    const note = { authorId: actorId, repeats: true }
    await insertCrossReference(tx, epic, {
      ...note,
      body: `promoted from issue ${names.issue}`,
      source: { noteable: issue },
    })
    await insertCrossReference(tx, issue, {
      ...note,
      body: `promoted to epic ${names.epic}`,
      source: { noteable: epic },
    })
    if (await closeIssue(tx, row.id, actorId)) await addSystemNote(tx, issue, actorId, 'closed')
    await emitEpic(tx, made.id, { kind: 'epic_opened', actorId })
  })
}
