import { mergeRequestPolicy } from '../../../access/merge-request-policy.ts'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { allowsNow } from '../../../api/allows-now.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { violatedUnique } from '../../../db/violations.ts'
import { conflict, Failure, forbidden, rowNotFound } from '../../../kernel/failure.ts'
import {
  assignableAmong,
  assignment,
  cleanTitle,
  finishTodos,
  replaceAssigned,
  replacementAmong,
} from '../../discussion/index.ts'
import { holdPlace } from '../../groups/index.ts'
import {
  changesOf,
  editLabels,
  type LabelEdit,
  peopleAfter,
  recordEdit,
  usableMilestone,
} from '../../planning/index.ts'
import { loadProject, openRepository, type ProjectSubject } from '../../projects/index.ts'
import { findForkRelation } from '../../repository/index.ts'
import { notesOf } from './change-notes.ts'
import {
  closeMergeRequest,
  findOpenFor,
  forgetMergeability,
  type MergeRequestValues,
  onePerBranches,
  reopenMergeRequest,
  revokeApprovals,
  saveValues,
} from './edit-queries.ts'
import { type MergeRequestFacts, readFacts } from './event-queries.ts'
import { emitMergeRequest } from './events.ts'
import { asNoteable } from './noteable.ts'
import { lockMergeRequest, type MergeRequestRow, touchMergeRequest } from './queries.ts'
import { requireRules } from './rules.ts'
import { anotherOpen, mayAllowCollaboration, refused, reviewRequest } from './service.ts'
import { authorReadsSource } from './source-access.ts'
import { type MergeRequestSubject, mergeRequest } from './subject.ts'
import { titleAs } from './title.ts'
import type { Version } from './version-queries.ts'
import { findVersion, recordVersion, versionBetween } from './versions.ts'

/**
 * Absent fields stay unchanged, and so do assignees or reviewers if none of those given can be assigned; empty lists, 0 and null clear.
 */
export type MergeRequestEdit = LabelEdit & {
  readonly title?: string
  /** Whether the title gets, or loses, the prefix of a draft. */
  readonly draft?: boolean
  readonly description?: string | null
  readonly target_branch?: string
  readonly state_event?: 'close' | 'reopen'
  readonly assignee_ids?: readonly number[]
  /** Added to the assignees at the time of the change, and removed from them. */
  readonly add_assignee_ids?: readonly number[]
  readonly remove_assignee_ids?: readonly number[]
  readonly reviewer_ids?: readonly number[]
  /** Added to the reviewers at the time of the change, and removed from them. */
  readonly add_reviewer_ids?: readonly number[]
  readonly remove_reviewer_ids?: readonly number[]
  readonly milestone_id?: number | null
  readonly discussion_locked?: boolean | null
  readonly squash?: boolean
  readonly remove_source_branch?: boolean
  readonly allow_collaboration?: boolean
}

/** What an edit refers to, as far as the project can use it. */
type Referred = {
  readonly assignees: readonly number[] | undefined
  readonly addedAssignees: readonly number[]
  readonly reviewers: readonly number[] | undefined
  readonly addedReviewers: readonly number[]
  readonly milestoneId: number | null | undefined
}

/** What is computed before the merge request is locked. */
type Prepared = {
  /** Whether the caller may change `allow_collaboration`. */
  readonly mayAllowCollaboration: boolean
  /** Present if the target branch changes or the merge request is reopened. */
  readonly version: PreparedVersion | undefined
}

type PreparedVersion = Version & {
  /** The newest version when it was computed. */
  readonly after: number
  readonly targetBranch: string
  /** False if it has the last known head, because the source branch cannot be read. */
  readonly isCurrent: boolean
}

const attributes = [
  'title',
  'description',
  'state',
  'target_branch',
  'assignee_ids',
  'reviewer_ids',
  'labels',
  'milestone_id',
  'discussion_locked',
  'squash',
  'force_remove_source_branch',
  'allow_collaboration',
] as const satisfies readonly (keyof MergeRequestFacts)[]

/** Thrown if a version was recorded since an edit was prepared: its own may be older. The edit can be prepared again. */
export class VersionReplaced extends Failure {
  constructor() {
    super('conflict', 'The source branch was changed meanwhile')
  }
}

/** Saves a prepared edit, in one transaction. */
export type SaveEdit = (within: Ctx) => Promise<void>

/**
 * Prepares an update of a merge request: reads and brings commits. Assignees, reviewers, labels, milestone and lock require push access
 * to the target, `allow_collaboration` push access to the source; without it these fields are ignored. A state event that does not fit
 * the state is ignored, and so is a target branch once it is merged. Unchanged values are not written.
 *
 * This step throws as `requireRules` does, and `unprocessable` if source and target would be the same branch, or on reopening if the
 * source branch is missing or is in a project whose code the caller or the author cannot read.
 *
 * The step that saves throws `conflict` if another merge request is open for the same branches, or if the target branch was changed
 * meanwhile, and `VersionReplaced`; `unprocessable` if the merge request was closed meanwhile and the source branch is missing; `forbidden` if the caller lost
 * the permission meanwhile.
 */
export async function prepareEdit(ctx: Ctx, subject: MergeRequestSubject, given: MergeRequestEdit): Promise<SaveEdit> {
  const edit = given.title === undefined ? given : { ...given, title: cleanTitle(given.title) }
  const retitled = edit.draft === undefined ? edit.title : titleAs(edit.title ?? subject.title, edit.draft)
  requireRules({ ...edit, ...(retitled !== undefined && { title: retitled }) })
  const isOwn = subject.source_project_id === subject.project_id
  if (isOwn && edit.target_branch !== undefined && edit.target_branch === subject.source_branch)
    throw refused("You can't use same project/branch for source and target")
  const mayAdminister = allows(mergeRequestPolicy.admin_merge_request, ctx.actor, subject.facts)
  const allowed = mayAdminister ? edit : withoutAdministered(edit)
  const prepared = await prepare(ctx, subject, allowed)
  return (within) => save(within, subject, allowed, prepared)
}

async function save(ctx: Ctx, subject: MergeRequestSubject, edit: MergeRequestEdit, prepared: Prepared): Promise<void> {
  const { project } = subject
  try {
    await ctx.transaction(async (tx) => {
      const referred = await findReferred(ctx, tx, project, edit)
      await apply(ctx, tx, project, subject.id, edit, { ...prepared, ...referred })
    })
  } catch (error) {
    if (violatedUnique(error) !== onePerBranches) throw error
    const branches = {
      projectId: project.id,
      targetBranch: edit.target_branch ?? subject.target_branch,
      sourceProjectId: subject.source_project_id,
      sourceBranch: subject.source_branch,
    }
    throw anotherOpen(await findOpenFor(ctx.db, branches))
  }
}

/** The fields that a caller who cannot push to the target may change. */
const withoutAdministered = ({
  assignee_ids: _assignees,
  add_assignee_ids: _addedAssignees,
  remove_assignee_ids: _removedAssignees,
  reviewer_ids: _reviewers,
  add_reviewer_ids: _addedReviewers,
  remove_reviewer_ids: _removedReviewers,
  labels: _labels,
  add_labels: _added,
  remove_labels: _removed,
  milestone_id: _milestone,
  discussion_locked: _lock,
  ...rest
}: MergeRequestEdit): MergeRequestEdit => rest

/** Whether the edit has such a field. */
const administers = (edit: MergeRequestEdit): boolean =>
  Object.keys(edit).length > Object.keys(withoutAdministered(edit)).length

async function prepare(ctx: Ctx, subject: MergeRequestSubject, edit: MergeRequestEdit): Promise<Prepared> {
  const { project } = subject
  const branch = edit.target_branch ?? subject.target_branch
  const isMoved = branch !== subject.target_branch || edit.state_event === 'reopen'
  const source = await sourceOf(ctx, subject)
  const version =
    isMoved && subject.state !== 'merged'
      ? await versionInto(ctx, subject, source, branch, edit.state_event === 'reopen')
      : undefined
  return { version, mayAllowCollaboration: source !== null && mayAllowCollaboration(ctx, source, project) }
}

/**
 * People and milestone of an edit. Keeps the project below the groups of new labels and of the milestone until the transaction ends. If
 * one of them is deleted meanwhile, the transaction is tried again and does not find it.
 */
async function findReferred(ctx: Ctx, tx: Tx, project: ProjectSubject, edit: MergeRequestEdit): Promise<Referred> {
  const assignable = (ids: readonly number[] | undefined) => assignableAmong(tx, ctx, 'MergeRequest', project.id, ids)
  const replacement = (ids: readonly number[] | undefined) => replacementAmong(tx, ctx, 'MergeRequest', project.id, ids)
  if (edit.labels || edit.add_labels) await holdPlace(tx, { of: 'project', id: project.id })
  return {
    assignees: await replacement(edit.assignee_ids),
    addedAssignees: await assignable(edit.add_assignee_ids),
    reviewers: await replacement(edit.reviewer_ids),
    addedReviewers: await assignable(edit.add_reviewer_ids),
    milestoneId: await usableMilestone(tx, project.id, edit.milestone_id),
  }
}

/** The project of the source branch; null if it is deleted. */
const sourceOf = async (
  ctx: Ctx,
  { project, source_project_id: id }: MergeRequestSubject,
): Promise<ProjectSubject | null> =>
  id === null ? null : id === project.id ? project : ((await loadProject(String(id), ctx)) ?? null)

/**
 * Whether this caller may fetch code from the source project: both the caller and the author must be able to read it. An author may
 * have closed the merge request to stop that, so neither the caller's nor the author's access is enough alone.
 */
const mayBringOver = async (ctx: Ctx, subject: MergeRequestSubject, source: ProjectSubject): Promise<boolean> =>
  source.id === subject.project_id ||
  (allows(projectPolicy.read_code, ctx.actor, source.facts) && (await authorReadsSource(ctx, subject)))

/** The version for a new target branch, or on reopening. If the source branch cannot be read, the last known head is used. */
async function versionInto(
  ctx: Ctx,
  subject: MergeRequestSubject,
  from: ProjectSubject | null,
  targetBranch: string,
  reopens: boolean,
): Promise<PreparedVersion> {
  const { project: target, source_branch: sourceBranch } = subject
  const source = from && (await mayBringOver(ctx, subject, from)) ? from : null
  const version = await findVersion(ctx, { source, target, sourceBranch, targetBranch })
  if (version.head !== null && (!reopens || (await isRelated(ctx, source!, target))))
    return { ...version, after: subject.diff_id, targetBranch, isCurrent: true }
  if (reopens && subject.state === 'closed') throw sourceMissing()
  const last = await versionBetween(ctx, openRepository(ctx, target), subject.head_oid, version.start)
  return { ...last, after: subject.diff_id, targetBranch, isCurrent: false }
}

const sourceMissing = () => refused('The source branch does not exist')

const isRelated = async (ctx: Ctx, source: ProjectSubject, target: ProjectSubject): Promise<boolean> =>
  source.id === target.id || (await findForkRelation(ctx.db, source.id, target.id)).related

/** Writes the changed values and their consequences. */
async function apply(
  ctx: Ctx,
  tx: Tx,
  project: ProjectSubject,
  id: number,
  edit: MergeRequestEdit,
  prepared: Prepared & Referred,
): Promise<void> {
  const row = await lockMergeRequest(tx, id)
  if (!row) throw rowNotFound()
  const path = { id: String(project.id), merge_request_iid: row.iid }
  const ability = administers(edit) ? 'admin_merge_request' : 'update_merge_request'
  if (tx.requirePermission && !(await allowsNow(mergeRequest, ability, path, ctx, tx))) throw forbidden()
  const mayAllow =
    prepared.mayAllowCollaboration &&
    (edit.allow_collaboration === undefined || !tx.requirePermission || (await mayAllowNow(ctx, tx, project, row)))
  const actorId = ctx.actor!.id
  const before = await readFacts(tx, id)
  await saveValues(tx, id, valuesOf(row, edit, { ...prepared, mayAllowCollaboration: mayAllow }, actorId))
  const assignees = peopleAfter(ctx, before.assignee_ids, {
    replaced: prepared.assignees,
    added: prepared.addedAssignees,
    removed: edit.remove_assignee_ids,
  })
  const reviewers = peopleAfter(ctx, before.reviewer_ids, {
    replaced: prepared.reviewers,
    added: prepared.addedReviewers,
    removed: edit.remove_reviewer_ids,
  })
  const noteable = asNoteable(row)
  const assigned = assignees && (await replaceAssigned(tx, 'merge_request_assignees', noteable, assignees))
  const asked = reviewers && (await replaceAssigned(tx, 'merge_request_reviewers', noteable, reviewers))
  await editLabels(tx, ctx, noteable, before.labels, edit)
  await changeState(ctx, tx, project, row, edit, prepared)
  const now = await readFacts(tx, id)
  const changes = changesOf(attributes, before, now)
  if (Object.keys(changes).length === 0) return
  await touchMergeRequest(tx, id)
  await recordEdit(tx, {
    noteable,
    actorId,
    now,
    changes,
    notes: await notesOf(tx, before, now),
    todos: [...(assigned?.added ?? []).map(assignment(actorId)), ...(asked?.added ?? []).map(reviewRequest(actorId))],
    emit: (verb, changed) => emitMergeRequest(tx, id, { kind: `merge_request_${verb}`, actorId, changes: changed }),
  })
}

/** Whether the caller may still let others push to the source branch. */
async function mayAllowNow(
  ctx: Ctx,
  tx: Tx,
  project: ProjectSubject,
  { source_project_id: id }: Pick<MergeRequestRow, 'source_project_id'>,
): Promise<boolean> {
  const now = { ...ctx, db: tx }
  const source = id === null ? undefined : await loadProject(String(id), now)
  return source !== undefined && mayAllowCollaboration(now, source, project)
}

/** The target branch cannot change once the merge request is merged or locked. */
const mayMove = ({ state }: Pick<MergeRequestRow, 'state'>): boolean => state === 'opened' || state === 'closed'

const valuesOf = (
  row: Omit<MergeRequestRow, 'own'>,
  edit: MergeRequestEdit,
  { milestoneId, mayAllowCollaboration }: Prepared & Referred,
  actorId: number,
): MergeRequestValues => ({
  title: titleAs(edit.title ?? row.title, edit.draft),
  description: edit.description === undefined ? row.description : edit.description,
  targetBranch: (mayMove(row) ? edit.target_branch : undefined) ?? row.target_branch,
  milestoneId: milestoneId === undefined ? row.milestone_id : milestoneId,
  discussionLocked: edit.discussion_locked === undefined ? row.discussion_locked : edit.discussion_locked,
  squash: edit.squash ?? row.squash,
  forceRemoveSourceBranch: edit.remove_source_branch ?? row.force_remove_source_branch,
  ...(mayAllowCollaboration && edit.allow_collaboration !== undefined
    ? {
        allowCollaboration: edit.allow_collaboration,
        collaborationUserId: edit.allow_collaboration ? actorId : null,
      }
    : { allowCollaboration: row.allow_collaboration, collaborationUserId: row.collaboration_user_id }),
})

/** Closes or reopens it, and records the version for a new target branch. */
async function changeState(
  ctx: Ctx,
  tx: Tx,
  project: ProjectSubject,
  row: Omit<MergeRequestRow, 'own'>,
  edit: MergeRequestEdit,
  { version }: Prepared,
): Promise<void> {
  if (edit.state_event === 'close' && row.state === 'opened') {
    await closeMergeRequest(tx, row.id, ctx.actor!.id)
    await finishTodos(tx, ctx.actor!.id, asNoteable(row))
  }
  const reopens = edit.state_event === 'reopen' && row.state === 'closed'
  const moves = edit.target_branch !== undefined && edit.target_branch !== row.target_branch && mayMove(row)
  if (!(reopens || moves)) return
  // State, target branch and head may have changed since the version was computed.
  if (version?.targetBranch !== (edit.target_branch ?? row.target_branch))
    throw conflict('The target branch was changed meanwhile')
  if (version.after !== row.diff_id) throw new VersionReplaced()
  if (reopens && !version.isCurrent) throw sourceMissing()
  if (reopens) await reopenMergeRequest(tx, row.id)
  await forgetMergeability(tx, row.id)
  // A push that was not followed yet, as while it was closed.
  if (version.head !== row.head_oid) await revokeApprovals(tx, row.id)
  await recordVersion(tx, openRepository(ctx, project), row, version)
}
