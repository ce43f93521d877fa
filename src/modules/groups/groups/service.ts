import { groupPolicy } from '../../../access/group-policy.ts'
import { atMost, type Visibility, visibilities, visibilityName } from '../../../access/levels.ts'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { UploadedFile } from '../../../api/params/uploaded-file.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { changedNames } from '../../../kernel/changed-names.ts'
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
  lockSharingBelow,
  markGroupForDeletion,
  namespacePathViolations,
  namespacePlaced,
  newRunnersToken,
  renameTree,
  restrictedVisibility,
  retireRoutes,
  saveAvatar,
  unmarkGroupForDeletion,
} from '../../namespaces/index.ts'
import { loadProject, requireUnprotected, withAudiencesLowered } from '../../projects/index.ts'
import { awaitProjects } from './await-projects.ts'
import { ownNewGroup } from './created.ts'
import { type GroupAttributes, groupAttributeNames, updateGroupAttributes, visibilitiesInside } from './edit-queries.ts'
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

function attributesOf(input: GroupInput): Partial<GroupAttributes> {
  const { name, description, visibility, ...rest } = input
  return {
    // The input has other parameters too: path, parent, avatar.
    ...Object.fromEntries(Object.entries(rest).filter(([key]) => groupAttributeNames.has(key))),
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description: description ?? '' }),
    ...(visibility !== undefined && { visibility: visibilities[visibility] }),
  }
}

const aboveParent = (visibility: Visibility, parent: Pick<GroupRow, 'visibility'> | undefined): string[] =>
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

/** Attributes on which other groups, projects or the access to them depend. */
const dependedOn = ['path', 'name', 'share_with_group_lock'] as const

/** Whether the edit changes more than the group itself. Clients that manage configurations send every attribute, changed or not. */
const concernsOthers = (group: GroupRow, input: GroupInput): boolean =>
  (input.visibility !== undefined && visibilities[input.visibility] !== group.visibility) ||
  dependedOn.some((name) => input[name] !== undefined && input[name] !== group[name])

/** Whether the edit changes the paths or names of what is inside the group. */
const renames = (group: Pick<GroupRow, 'path' | 'name'>, { path, name }: GroupInput): boolean =>
  (path !== undefined && path !== group.path) || (name !== undefined && name !== group.name)

/** Changes the given attributes. A new path leaves redirects for the group and its content. Values as they are leave no trace. */
export async function editGroup(ctx: Ctx, group: GroupSubject, input: GroupInput): Promise<void> {
  let locksAccess = concernsOthers(group, input)
  const avatar = await acceptAvatar(ctx, input.avatar)
  const edit = async (tx: Tx): Promise<'edited' | 'concerns others'> => {
    if (locksAccess) await lockAccess(tx)
    const held = await lockGroup(tx, group.id)
    if (!held) throw notFound('Group')
    // Another request has changed what this one leaves as it was. That lock comes first, so the edit begins again.
    if (!locksAccess && concernsOthers(held, input)) return 'concerns others'
    await tx.requirePermission?.()
    const parent = locksAccess && held.parent_id !== null ? await lockGroup(tx, held.parent_id) : undefined
    const { visibility } = input
    const violations = violationsOf({
      name: input.name === undefined ? [] : groupNameViolations(input.name),
      path: input.path === undefined ? [] : namespacePathViolations(input.path, held.parent_id !== null),
      description: descriptionViolations(input.description),
      file_template_project_id: await templateViolations({ ...ctx, db: tx }, input.file_template_project_id),
      visibility_level:
        visibility === undefined || visibilities[visibility] === held.visibility
          ? []
          : [
              ...restrictedVisibility(ctx, visibility),
              ...aboveParent(visibility, parent),
              ...(await belowContents(tx, held.id, visibility)),
            ],
      share_with_group_lock:
        input.share_with_group_lock === false &&
        held.share_with_group_lock &&
        parent?.share_with_group_lock &&
        !(await mayUnlock({ ...ctx, db: tx }, parent.id))
          ? [
              'cannot be disabled when the parent group "Share with group lock" is enabled, except by the owner of the parent group',
            ]
          : [],
    })
    if (violations) throw invalidFields(violations)
    const attributes = attributesOf(input)
    const changed = changedNames(held, { ...attributes, path: input.path })
    if (changed.length > 0) await updateGroupAttributes(tx, held.id, attributes)
    if (avatar !== undefined && (await saveAvatar(tx, 'group', held.id, avatar))) changed.push('avatar')
    if (changed.length === 0) return 'edited'
    const path = input.path ?? held.path
    const name = input.name ?? held.name
    if (path !== held.path || name !== held.name) await rename(tx, held, parent, path, name)
    const sharingLock = input.share_with_group_lock ?? held.share_with_group_lock
    if (sharingLock !== held.share_with_group_lock) {
      if (sharingLock) await lockSharingBelow(tx, held.traversal_ids)
      await namespacePlaced(tx, held.id)
    }
    await emit(tx, {
      kind: 'group_updated',
      groupId: held.id,
      actorId: ctx.actor!.id,
      payload: {
        changed,
        ...(visibility !== undefined &&
          changed.includes('visibility') && { from_visibility: visibilityName(held.visibility), visibility }),
      },
      facts: { ...(path !== held.path && { old_full_path: held.full_path }) },
    })
    return 'edited'
  }
  if (renames(group, input)) await awaitProjects(ctx, group.id)
  if ((await ctx.transaction(edit)) === 'edited') return
  locksAccess = true
  if (input.path !== undefined || input.name !== undefined) await awaitProjects(ctx, group.id)
  await ctx.transaction(edit)
}

/**
 * Other users will see code of the project, so the caller must be able to read it. A missing project has the same
 * error.
 */
async function templateViolations(ctx: Ctx, projectId: number | null | undefined): Promise<string[]> {
  if (projectId == null) return []
  const project = await loadProject(String(projectId), ctx)
  const isReadable = (['read_project', 'read_code'] as const).every(
    (ability) => project && allows(projectPolicy[ability], ctx.actor, project.facts),
  )
  return isReadable ? [] : ['is invalid']
}

async function rename(tx: Tx, held: GroupRow, parent: GroupRow | undefined, path: string, name: string): Promise<void> {
  const to = {
    path,
    fullPath: parent ? `${parent.full_path}/${path}` : path,
    fullName: parent ? `${parent.full_name} / ${name}` : name,
  }
  // If only the name changes, this claims the same routes again, which is harmless.
  await retireRoutes(tx, held.traversal_ids)
  const from = { fullPath: held.full_path, fullName: held.full_name }
  const violation = await renameTree(tx, held.traversal_ids, from, to)
  if (violation !== undefined) throw invalidFields({ path: [violation] })
}

async function belowContents(tx: Tx, id: number, visibility: Visibility): Promise<string[]> {
  const inside = await visibilitiesInside(tx, id)
  return [
    ...((inside.projects ?? 0) > visibilities[visibility]
      ? [`${visibility} is not allowed since this group contains projects with higher visibility.`]
      : []),
    ...((inside.groups ?? 0) > visibilities[visibility]
      ? [`${visibility} is not allowed since there are sub-groups with higher visibility.`]
      : []),
  ]
}

async function mayUnlock(ctx: Ctx, parentId: number): Promise<boolean> {
  const parent = await findGroup(ctx.db, ctx.actor, parentId)
  return parent !== undefined && allows(groupPolicy.admin_group, ctx.actor, groupFacts(parent))
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
