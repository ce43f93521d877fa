import { groupPolicy } from '../../../access/group-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'
import { conflict, Failure, invalid, notFound } from '../../../kernel/failure.ts'
import { lockAccess, lockNamespace, namespacePlaced, projectPlaced } from '../../namespaces/index.ts'
import { lockProject, type ProjectSubject } from '../../projects/index.ts'
import { lockGroup } from '../groups/queries.ts'
import { type GroupSubject, loadGroup } from '../groups/subject.ts'
import { emitGroupsUnshared, emitProjectsUnshared } from '../groups/unshared.ts'
import {
  deleteEndedGroupShare,
  deleteEndedGroupShares,
  deleteEndedProjectShare,
  deleteEndedProjectShares,
  deleteGroupShare,
  deleteProjectShare,
  insertGroupShare,
  insertProjectShare,
  type ProjectShareRow,
  type Share,
} from './queries.ts'

/** A group that the caller can see; throws `not_found` otherwise. */
async function invitedGroup(ctx: Ctx, id: number): Promise<GroupSubject> {
  const group = await loadGroup(id, ctx)
  if (!group || !allows(groupPolicy.read_group, ctx.actor, group.facts)) throw new Failure('not_found', 'Not Found')
  return group
}

/** Shares a project with a group: its members get access, at most with the level of the share. */
export async function shareProject(
  ctx: Ctx,
  project: ProjectSubject,
  groupId: number,
  share: Share,
): Promise<ProjectShareRow> {
  return ctx.transaction(async (tx) => {
    await lockAccess(tx)
    const group = await invitedGroup({ ...ctx, db: tx }, groupId)
    const namespace = await lockNamespace(tx, project.namespace_id)
    const held = await lockProject(tx, project.id)
    if (!namespace || held?.namespace_id !== namespace.id) throw notFound('Project')
    if (!(await lockNamespace(tx, group.id))) throw new Failure('not_found', 'Not Found')
    if (namespace.share_with_group_lock) throw invalid('The project sharing with group is disabled')
    if (namespace.traversal_ids.includes(group.id))
      throw conflict('Project cannot be shared with the group it is in or one of its ancestors.')
    // A share that has expired is in the way until it is deleted.
    await emitProjectsUnshared(tx, await deleteEndedProjectShare(tx, project.id, group.id), null)
    const link = await insertProjectShare(tx, project.id, group.id, share)
    if (!link) throw conflict('Group already shared with this group')
    await projectPlaced(tx, project.id)
    await emit(tx, {
      kind: 'project_shared',
      projectId: project.id,
      actorId: ctx.actor!.id,
      payload: { group_id: group.id, group_access: share.level, expires_at: share.expiresAt },
    })
    return link
  })
}

export async function unshareProject(ctx: Ctx, project: ProjectSubject, groupId: number): Promise<void> {
  await ctx.transaction(async (tx) => {
    await lockAccess(tx)
    // Before the share: the deletion of the project locks them in this order.
    await lockProject(tx, project.id)
    const level = await deleteProjectShare(tx, project.id, groupId)
    if (level === undefined) throw notFound('Group Link')
    await projectPlaced(tx, project.id)
    await emit(tx, {
      kind: 'project_unshared',
      projectId: project.id,
      actorId: ctx.actor!.id,
      payload: { group_id: groupId, group_access: level },
    })
  })
}

/**
 * Shares a group with another: members of the other get access to this one and its content, at most with the level of
 * the share.
 */
export async function shareGroup(ctx: Ctx, group: GroupSubject, withGroupId: number, share: Share): Promise<void> {
  await ctx.transaction(async (tx) => {
    await lockAccess(tx)
    const invited = await invitedGroup({ ...ctx, db: tx }, withGroupId)
    const held = await lockGroup(tx, group.id)
    if (!held) throw notFound('Group')
    if (!(await lockNamespace(tx, invited.id))) throw new Failure('not_found', 'Not Found')
    if (held.traversal_ids.includes(invited.id))
      throw conflict('A group cannot be shared with itself or one of its ancestors.')
    await emitGroupsUnshared(tx, await deleteEndedGroupShare(tx, group.id, invited.id), null)
    if (!(await insertGroupShare(tx, group.id, invited.id, share)))
      throw conflict('The group has already been shared with this group')
    await namespacePlaced(tx, group.id)
    await emit(tx, {
      kind: 'group_shared',
      groupId: group.id,
      actorId: ctx.actor!.id,
      payload: { with_group_id: invited.id, group_access: share.level, expires_at: share.expiresAt },
    })
  })
}

export async function unshareGroup(ctx: Ctx, group: GroupSubject, withGroupId: number): Promise<void> {
  await ctx.transaction(async (tx) => {
    await lockAccess(tx)
    if (!(await deleteGroupShare(tx, group.id, withGroupId))) throw notFound('Group Link')
    await namespacePlaced(tx, group.id)
    await emit(tx, {
      kind: 'group_unshared',
      groupId: group.id,
      actorId: ctx.actor!.id,
      payload: { with_group_id: withGroupId },
    })
  })
}

/** Deletes at most `size` expired shares of projects; resolves with their number. */
export const removeEndedProjectShares = (ctx: Ctx, size: number): Promise<number> =>
  ctx.transaction(async (tx) => {
    // Serialised with new shares: they lock the project's row, which deleting a share updates
    // (0024_shares_endings_and_commit_addresses.sql).
    await lockAccess(tx)
    const ended = await deleteEndedProjectShares(tx, size)
    await emitProjectsUnshared(tx, ended, null)
    return ended.length
  })

/** As `removeEndedProjectShares`, for shares of groups. */
export const removeEndedGroupShares = (ctx: Ctx, size: number): Promise<number> =>
  ctx.transaction(async (tx) => {
    await lockAccess(tx)
    const ended = await deleteEndedGroupShares(tx, size)
    await emitGroupsUnshared(tx, ended, null)
    return ended.length
  })
