import { issuePolicy } from '../../../access/issue-policy.ts'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { type Failure, invalid, notFound } from '../../../kernel/failure.ts'
import {
  addNotesOnBothSides,
  addTodos,
  assignment,
  copyDiscussion,
  type NamedRow,
  noteMentions,
  qualifyReferences,
  readersAmong,
  replaceAssigned,
} from '../../discussion/index.ts'
import { copyUploads, loadProject, namedUploads, type ProjectSubject, recordActivity } from '../../projects/index.ts'
import type { AttributeChanges } from '../changes/attributes.ts'
import { moveLink } from '../epic-links/queries.ts'
import { closeIssue } from '../issues/close.ts'
import { readIssueFacts } from '../issues/event-queries.ts'
import { emitIssue } from '../issues/events.ts'
import { asNamed, asNoteable } from '../issues/noteable.ts'
import { type LockedIssue, lockIssue } from '../issues/queries.ts'
import { type IssueSubject, issueNotFound, loadIssueById } from '../issues/subject.ts'
import { setLabels } from '../labels/assign.ts'
import { findMilestoneByTitle, milestoneTitle } from '../milestones/queries.ts'
import { copyEvents, copyLabels, insertCopy, lockMilestoneOf, lockProjects, saveMovedTo } from './queries.ts'

/** An issue in the project to which it was moved or cloned. */
type Arrived = { readonly target: ProjectSubject; readonly id: number }

const refused = (verb: 'move' | 'clone'): Failure => invalid(`Cannot ${verb} issue due to insufficient permissions!`)

/** The project to which an issue goes. The caller must be allowed to administer issues in both projects. */
async function targetOf(ctx: Ctx, subject: IssueSubject, projectId: number, verb: 'move' | 'clone') {
  const target = projectId === subject.project_id ? subject.project : await loadProject(String(projectId), ctx)
  if (!target || !allows(projectPolicy.read_project, ctx.actor, target.facts)) throw notFound('Project')
  const may =
    allows(issuePolicy.move_issue, ctx.actor, subject.facts) &&
    allows(projectPolicy.admin_issue, ctx.actor, target.facts)
  if (!may) throw refused(verb)
  return target
}

/** Throws if the caller has lost the permission in one of the projects during the wait for the locks. */
async function requireBoth(tx: Tx, ctx: Ctx, subject: IssueSubject, targetId: number, verb: 'move' | 'clone') {
  await tx.requirePermission?.()
  const current = { ...ctx, db: tx }
  const now = await loadIssueById(subject.id, current)
  if (!now) throw issueNotFound()
  await targetOf(current, now, targetId, verb)
}

/**
 * Moves an issue: a copy in another project continues it, and the issue is closed. The copy has author, times, notes, awards, label
 * events, logged time, subscriptions and uploads; labels and milestone by title; and the assignees who can read it. An issue moves
 * once. One transaction.
 */
export async function moveIssue(ctx: Ctx, subject: IssueSubject, toProjectId: number): Promise<Arrived> {
  const target = await targetOf(ctx, subject, toProjectId, 'move')
  if (target.id === subject.project_id) throw invalid('Cannot move issue to project it originates from!')
  const actorId = ctx.actor!.id
  const id = await ctx.transaction(async (tx) => {
    // Before the issue, as changes of visibility and of due dates lock them.
    await lockProjects(tx, [subject.project_id, target.id])
    await lockMilestoneOf(tx, subject.id)
    const row = await lockIssue(tx, subject.id)
    if (!row) throw issueNotFound()
    if (row.moved_to_id !== null) throw refused('move')
    await requireBoth(tx, ctx, subject, target.id, 'move')
    const { copy, uploads, assignees } = await arrive(tx, row, subject.project, target, {
      clonedBy: null,
      withNotes: true,
    })
    await copyLabels(tx, row.id, copy.id, target.id)
    await copyEvents(tx, row.id, copy.id, target.id)
    await copyUploads(tx, row.project_id, target.id, uploads)
    await noteBoth(tx, actorId, asNamed(subject), asNamed({ ...copy, project: target }), 'moved')
    await saveMovedTo(tx, row.id, copy.id)
    await addTodos(tx, copy, assignees.map(assignment(actorId)))
    const changes: AttributeChanges = { moved_to_id: [null, copy.id] }
    // Closing a closed issue emits nothing.
    if (!(await closeIssue(tx, row.id, actorId, changes)))
      await emitIssue(tx, row.id, { kind: 'issue_updated', actorId, changes })
    await moveLink(tx, row.id, copy.id)
    await recordActivity(tx, target.id)
    await emitIssue(tx, copy.id, { kind: 'issue_opened', actorId })
    return copy.id
  })
  return { target, id }
}

/**
 * Creates an issue of the caller like another one, in the same project or another: with title, description, labels and milestone by
 * title, due date, weight and the assignees who can read it; with `withNotes` also with the notes. One transaction.
 */
export async function cloneIssue(
  ctx: Ctx,
  subject: IssueSubject,
  { toProjectId, withNotes }: { readonly toProjectId: number; readonly withNotes: boolean },
): Promise<Arrived> {
  const target = await targetOf(ctx, subject, toProjectId, 'clone')
  const actorId = ctx.actor!.id
  const id = await ctx.transaction(async (tx) => {
    // Before the issue, as changes of visibility and of due dates lock them.
    await lockProjects(tx, [subject.project_id, target.id])
    await lockMilestoneOf(tx, subject.id)
    const row = await lockIssue(tx, subject.id)
    if (!row) throw issueNotFound()
    await requireBoth(tx, ctx, subject, target.id, 'clone')
    const cloning = { clonedBy: actorId, withNotes }
    const { copy, uploads, assignees, labels, description } = await arrive(tx, row, subject.project, target, cloning)
    await setLabels(tx, ctx, copy, labels, { create: false })
    if (target.id !== row.project_id) await copyUploads(tx, row.project_id, target.id, uploads)
    await noteBoth(tx, actorId, asNamed(subject), asNamed({ ...copy, project: target }), 'cloned')
    await addTodos(tx, copy, assignees.map(assignment(actorId)))
    if (description) await noteMentions(tx, copy, { text: description, authorId: actorId, isNew: true })
    await recordActivity(tx, target.id)
    await emitIssue(tx, copy.id, {
      kind: 'issue_opened',
      actorId,
      ...(copy.milestoneId && { changes: { milestone_id: [null, copy.milestoneId] } }),
    })
    return copy.id
  })
  return { target, id }
}

/** Inserts the copy with what moves and clones have in common. The issue and both projects are locked. */
async function arrive(
  tx: Tx,
  row: LockedIssue,
  source: ProjectSubject,
  target: ProjectSubject,
  { clonedBy, withNotes }: { readonly clonedBy: number | null; readonly withNotes: boolean },
) {
  const uploads = new Set<string>()
  const rewrite = (text: string): string => {
    for (const secret of namedUploads(text)) uploads.add(secret)
    return target.id === source.id ? text : qualifyReferences(text, source.full_path)
  }
  const description = row.description && rewrite(row.description)
  const milestoneId =
    row.milestone_id === null
      ? undefined
      : await findMilestoneByTitle(tx, target.id, await milestoneTitle(tx, row.milestone_id))
  const { assignee_ids, labels } = await readIssueFacts(tx, row.id)
  const values = { projectId: target.id, description, milestoneId: milestoneId ?? null, clonedBy }
  const made = await insertCopy(tx, row.id, values)
  if (!made) throw notFound('Project')
  const placed = { id: made.id, iid: made.iid, project_id: target.id }
  const copy = { ...placed, ...asNoteable(placed), milestoneId }
  const assignees = await readersAmong(tx, 'Issue', target.id, assignee_ids)
  await replaceAssigned(tx, 'issue_assignees', copy, assignees)
  if (withNotes) await copyDiscussion(tx, asNoteable(row), copy, { around: clonedBy === null, rewrite })
  return { copy, uploads: [...uploads], assignees, labels: labels.map(({ name }) => name), description }
}

/** Adds a system note to each of the two issues. */
const noteBoth = (
  tx: Tx,
  authorId: number,
  original: NamedRow,
  copy: NamedRow,
  verb: 'moved' | 'cloned',
): Promise<void> =>
  addNotesOnBothSides(tx, authorId, [
    { on: copy, text: (name) => `${verb} from ${name}` },
    { on: original, text: (name) => `${verb} to ${name}` },
  ])
