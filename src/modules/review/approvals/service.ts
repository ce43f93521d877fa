import type { Ctx } from '../../../api/ctx.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { conflict, Failure, invalidFields, rowNotFound, unauthenticated } from '../../../kernel/failure.ts'
import { requirePassword } from '../../accounts/index.ts'
import { addSystemNote, addTodos, finishTodos, readersAmong } from '../../discussion/index.ts'
import { nameable, requireOverriding } from '../approval-rules/service.ts'
import { findApprovalSettings } from '../approval-rules/settings-queries.ts'
import { emitMergeRequest } from '../merge-requests/events.ts'
import { asNoteable } from '../merge-requests/noteable.ts'
import { touchMergeRequest } from '../merge-requests/queries.ts'
import { type MergeRequestSubject, mergeRequest as mergeRequestSubject } from '../merge-requests/subject.ts'
import {
  type ApprovalsRow,
  deleteApproval,
  deleteApprovals,
  findApprovals,
  type HeldForApproval,
  insertApproval,
  lockForApproval,
  maxAskedMembers,
  membersOfGroups,
  replaceApprovers,
  saveRequiredApprovals,
} from './queries.ts'

export async function getApprovals(ctx: Ctx, { id }: MergeRequestSubject): Promise<ApprovalsRow> {
  const approvals = await findApprovals(ctx.db, id)
  if (!approvals) throw rowNotFound()
  return approvals
}

/** Runs a change of an existing merge request while its row is locked. */
const changing = <T>(
  ctx: Ctx,
  { id }: MergeRequestSubject,
  change: (tx: Tx, held: HeldForApproval) => Promise<T>,
): Promise<T> =>
  ctx.transaction(async (tx) => {
    const held = await lockForApproval(tx, id)
    if (!held) throw rowNotFound()
    return change(tx, held)
  })

/**
 * Approves an open merge request; with `sha`, only if that is its head. False if the caller has approved it already. Throws
 * `wrong_state` if it is not open, `conflict` if the head differs, `unauthenticated` if the project requires the caller's password and
 * it is missing or wrong.
 */
export async function approve(
  ctx: Ctx,
  mergeRequest: MergeRequestSubject,
  { sha, password }: { readonly sha: string | undefined; readonly password: string | undefined },
): Promise<boolean> {
  const needsPassword = async (db: Db | Tx): Promise<boolean> =>
    (await findApprovalSettings(db, mergeRequest.project_id))?.require_password_to_approve ?? false
  const isChecked = await needsPassword(ctx.db)
  if (isChecked) {
    if (password === undefined) throw unauthenticated()
    await requirePassword(ctx, password, unauthenticated())
  }
  return changing(ctx, mergeRequest, async (tx, { state, head_oid }) => {
    // Required since the request began; the client sends it again.
    if (!isChecked && (await needsPassword(tx))) throw unauthenticated()
    const userId = ctx.actor!.id
    if (state !== 'opened') throw new Failure('wrong_state', 'The merge request is not open')
    if (sha !== undefined && sha !== head_oid)
      throw conflict(`SHA does not match HEAD of source branch: ${head_oid ?? ''}`)
    if (!(await insertApproval(tx, mergeRequest.id, userId))) return false
    await touchMergeRequest(tx, mergeRequest.id)
    await addSystemNote(tx, asNoteable(mergeRequest), userId, 'approved this merge request')
    await finishTodos(tx, userId, asNoteable(mergeRequest))
    await emitMergeRequest(tx, mergeRequest.id, { kind: 'merge_request_approved', actorId: userId })
    return true
  })
}

/** Who approved what was merged is a record. A closed merge request may be reopened, so its approvals may still be revoked. */
function requireUnmerged({ state }: HeldForApproval): void {
  if (state === 'merged') throw new Failure('wrong_state', 'The merge request is merged')
  // It may fail.
  if (state === 'locked') throw new Failure('wrong_state', 'The merge request is being merged')
}

/** Revokes the caller's approval. Throws `not_found` if there is none, `wrong_state` if the merge request is merged. */
export const unapprove = (ctx: Ctx, mergeRequest: MergeRequestSubject): Promise<void> =>
  changing(ctx, mergeRequest, async (tx, held) => {
    requireUnmerged(held)
    const userId = ctx.actor!.id
    if (!(await deleteApproval(tx, mergeRequest.id, userId))) throw rowNotFound()
    await touchMergeRequest(tx, mergeRequest.id)
    await addSystemNote(tx, asNoteable(mergeRequest), userId, 'unapproved this merge request')
    await emitMergeRequest(tx, mergeRequest.id, { kind: 'merge_request_unapproved', actorId: userId })
  })

/**
 * Revokes all approvals. Throws `unauthenticated` unless the caller is the bot of a project or group, `wrong_state` if the merge request
 * is merged.
 */
export async function resetApprovals(ctx: Ctx, mergeRequest: MergeRequestSubject): Promise<void> {
  if (!ctx.actor?.bot) throw unauthenticated()
  const actorId = ctx.actor.id
  await changing(ctx, mergeRequest, async (tx, held) => {
    requireUnmerged(held)
    if ((await deleteApprovals(tx, mergeRequest.id)) === 0) return
    await touchMergeRequest(tx, mergeRequest.id)
    await addSystemNote(tx, asNoteable(mergeRequest), actorId, 'reset approvals from all approvers')
    await emitMergeRequest(tx, mergeRequest.id, { kind: 'merge_request_updated', actorId })
  })
}

/** Sets the required number of approvals, at least the number that the project requires. */
export async function requireApprovals(ctx: Ctx, mergeRequest: MergeRequestSubject, count: number): Promise<void> {
  await changing(ctx, mergeRequest, async (tx, { approvals_before_merge, least }) => {
    await requireOverriding({ ...ctx, db: tx }, mergeRequest.project_id)
    if (count < least)
      throw invalidFields({ approvals_before_merge: [`must be at least that of the target project (${least})`] })
    if (count === approvals_before_merge) return
    await saveRequiredApprovals(tx, mergeRequest.id, count)
    await emitMergeRequest(tx, mergeRequest.id, {
      kind: 'merge_request_updated',
      actorId: ctx.actor!.id,
      changes: { approvals_before_merge: [approvals_before_merge, count] },
    })
  })
}

/**
 * Replaces the requested approvers by users and by the members of groups. Users who cannot read the merge request, its author, and those
 * whom the caller may not name, are skipped; so are groups that the caller cannot see. Throws `invalid` if the groups have too many members.
 */
export async function askApprovers(
  ctx: Ctx,
  mergeRequest: MergeRequestSubject,
  userIds: readonly number[],
  groupIds: readonly number[] = [],
): Promise<void> {
  const { id: mergeRequestId, project_id: projectId, author_id } = mergeRequest
  const authorId = ctx.actor!.id
  await changing(ctx, mergeRequest, async (tx, { state }) => {
    const current = { ...ctx, db: tx }
    await requireOverriding(current, projectId)
    const members = groupIds.length === 0 ? [] : await membersOfGroups(tx, ctx.actor, groupIds)
    if (members.length > maxAskedMembers)
      throw invalidFields({ approver_group_ids: [`must have at most ${maxAskedMembers} members`] })
    const now = await mergeRequestSubject.load({ id: String(projectId), merge_request_iid: mergeRequest.iid }, current)
    if (!now) throw rowNotFound()
    const named = [...userIds, ...members]
    const readers = await readersAmong(tx, 'MergeRequest', projectId, named, nameable(ctx, now))
    const asked = readers.filter((id) => id !== author_id)
    const added = await replaceApprovers(tx, mergeRequestId, asked)
    if (state !== 'opened') return
    await addTodos(
      tx,
      asNoteable(mergeRequest),
      added.map((userId) => ({ userId, authorId, action: 'approval_required' })),
    )
  })
}
