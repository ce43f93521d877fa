import { groupPolicy } from '../../../access/group-policy.ts'
import { atMost, type Visibility, visibilities, visibilityName } from '../../../access/levels.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { UploadedFile } from '../../../api/params/uploaded-file.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { type FieldViolations, forbidden, invalid, invalidFields, notFound } from '../../../kernel/failure.ts'
import { planOffers } from '../../../kernel/plan.ts'
import { lengthViolations, taken, violationsOf } from '../../../kernel/violations.ts'
import {
  acceptAvatar,
  claimRoute,
  fullPathViolations,
  groupNameViolations,
  insertGroup,
  lockAccess,
  lockAccessForNew,
  markGroupForDeletion,
  namespacePathViolations,
  newRunnersToken,
  restrictedVisibility,
  saveAvatar,
  unmarkGroupForDeletion,
} from '../../namespaces/index.ts'
import { requireUnprotected, withAudiencesLowered } from '../../projects/index.ts'
import { ownNewGroup } from './created.ts'
import { type GroupAttributes, groupAttributeNames, updateGroupAttributes } from './edit-queries.ts'
import { findGroup, type GroupRow, lockGroup } from './queries.ts'
import { removeHeld } from './removal.ts'
import { containsProject } from './removal-queries.ts'
import { type GroupSubject, groupFacts } from './subject.ts'

const maxDescriptionLength = 255

/** Errors of the description of a group. */
export const descriptionViolations = (description: string | null | undefined): string[] =>
  lengthViolations(description ?? '', maxDescriptionLength)

/** Maximum depth of nested groups. */
export const deepestNesting = 20

/** Parameters of create and edit: attributes with the names of the API. */
export type GroupInput = {
  avatar?: UploadedFile | null
  name?: string
  path?: string
  description?: string | null
  visibility?: Visibility
  parent_id?: number | null
} & { [K in keyof Omit<GroupAttributes, 'name' | 'description' | 'visibility'>]?: GroupAttributes[K] }

/** Compat: group validation errors are one text. */
function refuse(fields: FieldViolations): never {
  throw invalidFields(fields, 'save group')
}

/** The columns that a create or an edit writes. */
export function attributesOf(input: GroupInput): Partial<GroupAttributes> {
  const { name, description, visibility, ...rest } = input
  return {
    // The input has other parameters too: path, parent, avatar.
    ...Object.fromEntries(Object.entries(rest).filter(([key]) => groupAttributeNames.has(key))),
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description: description ?? '' }),
    ...(visibility !== undefined && { visibility: visibilities[visibility] }),
  }
}

/** Errors of a visibility that is higher than that of the parent. */
export const aboveParent = (visibility: Visibility, parent: Pick<GroupRow, 'visibility'> | undefined): string[] =>
  parent && visibilities[visibility] > parent.visibility
    ? [`${visibility} is not allowed since the parent group has a ${visibilityName(parent.visibility)} visibility.`]
    : []

/** Creates a group owned by the caller, at the top level or below another; `also` runs in the same transaction. Returns its id. */
export async function createGroup(
  ctx: Ctx,
  input: GroupInput & { name: string; path: string },
  also?: (tx: Tx, groupId: number) => Promise<void>,
): Promise<number> {
  const actor = ctx.actor!
  if (input.parent_id == null && !(actor.admin || actor.canCreateGroup)) throw forbidden()
  const parent = input.parent_id == null ? undefined : await findParent(ctx, input.parent_id)
  const visibility =
    input.visibility ?? atMost(ctx.settings.default_group_visibility, parent?.visibility ?? visibilities.public)
  const violations = violationsOf({
    name: groupNameViolations(input.name),
    path: namespacePathViolations(input.path, parent !== undefined),
    description: descriptionViolations(input.description),
    visibility_level: [...restrictedVisibility(ctx, visibility), ...aboveParent(visibility, parent)],
    parent_id: parent && parent.traversal_ids.length >= deepestNesting ? ['has too deep level of nesting'] : [],
  })
  if (violations) refuse(violations)

  const avatar = await acceptAvatar(ctx, input.avatar)
  return ctx.transaction(async (tx) => {
    await lockAccessForNew(tx)
    const held = parent && (await lockGroup(tx, parent.id))
    if (parent && !held) throw notFound('Group')
    // Once it is locked: an edit of it may have taken the right.
    if (parent) await findParent({ ...ctx, db: tx }, parent.id)
    // The visibility of the parent may have been lowered since the checks.
    const tooOpen = aboveParent(visibility, held)
    if (tooOpen.length > 0) refuse({ visibility_level: tooOpen })
    const groupId = await insertGroup(tx, {
      name: input.name,
      path: input.path,
      parent: held,
      runnersToken: newRunnersToken(),
    })
    const fullPath = held ? `${held.full_path}/${input.path}` : input.path
    const tooLongPath = fullPathViolations(fullPath)
    if (tooLongPath.length > 0) refuse({ path: tooLongPath })
    if (!(await claimRoute(tx, fullPath, { namespaceId: groupId }))) refuse({ path: [taken] })
    await updateGroupAttributes(tx, groupId, {
      project_creation_level: (['noone', 'maintainer', 'developer'] as const)[ctx.settings.default_project_creation]!,
      ...attributesOf({ ...input, visibility }),
      // Inherits the lock, because the creator may not be allowed to unlock it.
      ...(held?.share_with_group_lock && { share_with_group_lock: true }),
    })
    if (avatar) await saveAvatar(tx, 'group', groupId, avatar)
    await ownNewGroup(tx, { id: groupId, name: input.name, full_path: fullPath }, actor.id)
    await also?.(tx, groupId)
    return groupId
  })
}

/** The parent of a new group; throws unless the caller may create groups below it. */
async function findParent(ctx: Ctx, id: number): Promise<GroupRow> {
  const parent = await findGroup(ctx.db, ctx.actor, id)
  if (!parent || !allows(groupPolicy.read_group, ctx.actor, groupFacts(parent))) throw notFound('Group')
  if (!allows(groupPolicy.create_subgroup, ctx.actor, groupFacts(parent))) throw forbidden()
  return parent
}

/** Deletes a group, or marks it for deletion on plans with a deletion period. */
export async function deleteGroup(ctx: Ctx, group: GroupSubject): Promise<void> {
  const waits = planOffers(ctx.plan, 'premium') && ctx.settings.deletion_adjourned_period > 0
  const requireDeletable = async (db: Db, { traversal_ids }: Pick<GroupRow, 'traversal_ids'>) => {
    if (await containsProject(db, traversal_ids)) requireUnprotected(ctx)
  }
  await requireDeletable(ctx.db, group)
  const hidden = waits ? [] : [{ namespaceId: group.id }]
  const remove = async (tx: Tx) => {
    await lockAccess(tx)
    const held = await lockGroup(tx, group.id)
    if (!held) throw notFound('Group')
    // An edit holds the row without the lock of access.
    await tx.requirePermission?.()
    await requireDeletable(tx, held)
    if (!waits) return removeHeld(tx, held, ctx.actor!.id)
    // Repeating the request succeeds without an event.
    if (held.marked_for_deletion_on !== null) return
    await markGroupForDeletion(tx, held.id)
    await emit(tx, {
      kind: 'group_marked_for_deletion',
      groupId: held.id,
      actorId: ctx.actor!.id,
      payload: {},
      facts: { full_path: held.full_path },
    })
  }
  await withAudiencesLowered(ctx, hidden, visibilities.private, () => ctx.transaction(remove))
}

/** Unmarks a group that is marked for deletion. */
export async function restoreGroup(ctx: Ctx, group: GroupSubject): Promise<void> {
  await ctx.transaction(async (tx) => {
    if (!(await lockGroup(tx, group.id))) throw notFound('Group')
    await tx.requirePermission?.()
    if (!(await unmarkGroupForDeletion(tx, group.id))) throw invalid('Group is not marked for deletion')
    await emit(tx, {
      kind: 'group_restored',
      groupId: group.id,
      actorId: ctx.actor!.id,
      payload: {},
      facts: { full_path: group.full_path },
    })
  })
}
