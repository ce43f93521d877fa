import { groupPolicy } from '../../../access/group-policy.ts'
import { type Visibility, visibilities, visibilityName } from '../../../access/levels.ts'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { changedNames } from '../../../kernel/changed-names.ts'
import { invalidFields, notFound } from '../../../kernel/failure.ts'
import { violationsOf } from '../../../kernel/violations.ts'
import {
  type Avatar,
  acceptAvatar,
  groupNameViolations,
  lockAccess,
  lockSharingBelow,
  namespacePathViolations,
  namespacePlaced,
  renameTree,
  restrictedVisibility,
  retireRoutes,
  saveAvatar,
} from '../../namespaces/index.ts'
import { loadProject } from '../../projects/index.ts'
import { awaitProjects } from './await-projects.ts'
import { updateGroupAttributes, visibilitiesInside } from './edit-queries.ts'
import { findGroup, type GroupRow, lockGroup } from './queries.ts'
import { aboveParent, attributesOf, descriptionViolations, type GroupInput } from './service.ts'
import { type GroupSubject, groupFacts } from './subject.ts'

/** What an edit locks: the group as it is now, and its parent, if the edit concerns others. */
type Locked = {
  readonly held: GroupRow
  readonly parent: GroupRow | undefined
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
  const avatar = await acceptAvatar(ctx, input.avatar)
  const edit = (locksAccess: boolean) =>
    ctx.transaction(async (tx): Promise<'edited' | 'concerns others'> => {
      const locked = await lockToEdit(tx, group, input, locksAccess)
      if (locked === 'concerns others') return locked
      await tx.requirePermission?.()
      await requireValid({ ...ctx, db: tx }, locked, input)
      await write(ctx, tx, locked, input, avatar)
      return 'edited'
    })
  if (renames(group, input)) await awaitProjects(ctx, group.id)
  if ((await edit(concernsOthers(group, input))) === 'edited') return
  if (input.path !== undefined || input.name !== undefined) await awaitProjects(ctx, group.id)
  await edit(true)
}

/** Locks a group, after the access to others if `locksAccess`. Throws if it is deleted. */
async function lockToEdit(
  tx: Tx,
  group: GroupSubject,
  input: GroupInput,
  locksAccess: boolean,
): Promise<Locked | 'concerns others'> {
  if (locksAccess) await lockAccess(tx)
  const held = await lockGroup(tx, group.id)
  if (!held) throw notFound('Group')
  // Another request has changed what this one leaves as it was. The lock of access comes first, so the edit begins again.
  if (!locksAccess && concernsOthers(held, input)) return 'concerns others'
  const parent = locksAccess && held.parent_id !== null ? await lockGroup(tx, held.parent_id) : undefined
  return { held, parent }
}

/** Throws `invalid` unless the group may have these attributes. `ctx` reads in the transaction. */
async function requireValid(ctx: Ctx, { held, parent }: Locked, input: GroupInput): Promise<void> {
  const { name, path, visibility } = input
  const unlocksSharing = input.share_with_group_lock === false && held.share_with_group_lock
  const violations = violationsOf({
    name: name === undefined ? [] : groupNameViolations(name),
    path: path === undefined ? [] : namespacePathViolations(path, held.parent_id !== null),
    description: descriptionViolations(input.description),
    file_template_project_id: await templateViolations(ctx, input.file_template_project_id),
    visibility_level:
      visibility === undefined || visibilities[visibility] === held.visibility
        ? []
        : [
            ...restrictedVisibility(ctx, visibility),
            ...aboveParent(visibility, parent),
            ...(await belowContents(ctx.db, held.id, visibility)),
          ],
    share_with_group_lock: unlocksSharing ? await unlockViolations(ctx, parent) : [],
  })
  if (violations) throw invalidFields(violations)
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

/** Errors of a visibility that is lower than that of a group or project inside. */
async function belowContents(db: Db, id: number, visibility: Visibility): Promise<string[]> {
  const inside = await visibilitiesInside(db, id)
  return [
    ...((inside.projects ?? 0) > visibilities[visibility]
      ? [`${visibility} is not allowed since this group contains projects with higher visibility.`]
      : []),
    ...((inside.groups ?? 0) > visibilities[visibility]
      ? [`${visibility} is not allowed since there are sub-groups with higher visibility.`]
      : []),
  ]
}

/** Errors of an edit that ends the lock of sharing, which a group inherits from its parent. */
async function unlockViolations(ctx: Ctx, lockedParent: GroupRow | undefined): Promise<string[]> {
  if (!lockedParent?.share_with_group_lock) return []
  const parent = await findGroup(ctx.db, ctx.actor, lockedParent.id)
  return parent && allows(groupPolicy.admin_group, ctx.actor, groupFacts(parent))
    ? []
    : [
        'cannot be disabled when the parent group "Share with group lock" is enabled, except by the owner of the parent group',
      ]
}

/** Writes what changes, here and in the groups and projects inside, and emits it; nothing if nothing changes. */
async function write(
  ctx: Ctx,
  tx: Tx,
  { held, parent }: Locked,
  input: GroupInput,
  avatar: Avatar | null | undefined,
): Promise<void> {
  const attributes = attributesOf(input)
  const changed = changedNames(held, { ...attributes, path: input.path })
  // If only the name changes, the same routes are claimed again, which is harmless.
  if (renames(held, input)) await retireRoutes(tx, held.traversal_ids)
  if (changed.length > 0) await updateGroupAttributes(tx, held.id, attributes)
  if (avatar !== undefined && (await saveAvatar(tx, 'group', held.id, avatar))) changed.push('avatar')
  if (changed.length === 0) return
  if (renames(held, input)) await rename(tx, held, parent, input)
  if (changed.includes('share_with_group_lock')) {
    if (input.share_with_group_lock) await lockSharingBelow(tx, held.traversal_ids)
    await namespacePlaced(tx, held.id)
  }
  await emitEdited(tx, held, input, { actorId: ctx.actor!.id, changed })
}

async function rename(tx: Tx, held: GroupRow, parent: GroupRow | undefined, input: GroupInput): Promise<void> {
  const { path = held.path, name = held.name } = input
  const to = {
    path,
    fullPath: parent ? `${parent.full_path}/${path}` : path,
    fullName: parent ? `${parent.full_name} / ${name}` : name,
  }
  const from = { fullPath: held.full_path, fullName: held.full_name }
  const violation = await renameTree(tx, held.traversal_ids, from, to)
  if (violation !== undefined) throw invalidFields({ path: [violation] })
}

async function emitEdited(
  tx: Tx,
  held: GroupRow,
  { visibility, path = held.path }: GroupInput,
  { actorId, changed }: { readonly actorId: number; readonly changed: readonly string[] },
): Promise<void> {
  await emit(tx, {
    kind: 'group_updated',
    groupId: held.id,
    actorId,
    payload: {
      changed,
      ...(visibility !== undefined &&
        changed.includes('visibility') && { from_visibility: visibilityName(held.visibility), visibility }),
    },
    facts: { ...(path !== held.path && { old_full_path: held.full_path }) },
  })
}
