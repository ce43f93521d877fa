import { visibilityName } from '../../../access/levels.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import {
  claimRoute,
  fullPathViolations,
  groupNameViolations,
  insertGroup,
  limitNamespaceVisibility,
  lockSharingBelow,
  namespacePathViolations,
  newRunnersToken,
  renameTree,
  restrictedVisibility,
  retireRoutes,
} from '../../namespaces/index.ts'
import { ownNewGroups } from '../groups/created.ts'
import { type GroupAttributes, updateGroupAttributes } from '../groups/edit-queries.ts'
import { findGroup, type GroupRow, lockGroup } from '../groups/queries.ts'
import { deepestNesting, descriptionViolations } from '../groups/service.ts'
import { holdPlace } from '../holders/place-queries.ts'

type Given = Readonly<Record<string, unknown>>

/** Why a group of an archive cannot be created. */
export type GroupRefused = { readonly refused: string }

/**
 * The group that an archive is imported into, as it will be. The access lock is not held, so its place and the group above it may change
 * until `placeImportedGroups`. Undefined if it no longer exists.
 */
export async function groupToFill(ctx: Ctx, tx: Tx, id: number, given: Given): Promise<GroupRow | undefined> {
  // Other edits go on; a transfer waits, because it would not find the groups that are created below.
  await holdPlace(tx, { of: 'group', id })
  const group = await findGroup(tx, ctx.actor, id)
  if (!group) return undefined
  const parent = group.parent_id === null ? undefined : await findGroup(tx, ctx.actor, group.parent_id)
  return { ...group, ...attributesFor(ctx, given, parent) }
}

/** Creates a group of an archive below another one. Until `placeImportedGroups` it has no owner, and others do not see it. */
export async function createImportedGroup(
  ctx: Ctx,
  tx: Tx,
  parent: GroupRow,
  given: Given,
): Promise<GroupRow | GroupRefused> {
  const { name, path } = given
  if (typeof name !== 'string' || typeof path !== 'string') return { refused: 'it has no name or path' }
  const fullPath = `${parent.full_path}/${path}`
  const violations = [
    ...groupNameViolations(name),
    ...namespacePathViolations(path, true),
    ...fullPathViolations(fullPath),
    ...(parent.traversal_ids.length >= deepestNesting ? ['has too deep level of nesting'] : []),
  ]
  if (violations.length > 0) return { refused: violations[0]! }
  const groupId = await insertGroup(tx, { name, path, parent, runnersToken: newRunnersToken() })
  if (!(await claimRoute(tx, fullPath, { namespaceId: groupId }))) return { refused: 'its path has already been taken' }
  await updateGroupAttributes(tx, groupId, attributesFor(ctx, given, parent))
  return (await lockGroup(tx, groupId))!
}

/**
 * Gives the group of `groupToFill` the attributes of its archive, and those created below it their owner and a place where it is now.
 * The access lock is held. The caller recomputes the access to them.
 */
export async function placeImportedGroups(
  ctx: Ctx,
  tx: Tx,
  [planned, ...below]: readonly [GroupRow, ...GroupRow[]],
  given: Given,
): Promise<GroupRefused | undefined> {
  const held = await lockGroup(tx, planned.id)
  if (!held) return { refused: 'it no longer exists' }
  const parent = held.parent_id === null ? undefined : await lockGroup(tx, held.parent_id)
  const attributes = attributesFor(ctx, given, parent)
  await updateGroupAttributes(tx, held.id, attributes)
  const root = { ...held, ...attributes }
  // The group above may have changed since the others were created.
  if (root.visibility < planned.visibility) await limitNamespaceVisibility(tx, root.traversal_ids, root.visibility)
  if (root.share_with_group_lock) await lockSharingBelow(tx, root.traversal_ids)
  if (root.full_path !== planned.full_path || root.full_name !== planned.full_name) {
    const violation = await followRename(
      tx,
      root,
      below.filter(({ parent_id }) => parent_id === root.id),
    )
    if (violation !== undefined) return { refused: violation }
  }
  const moved = below.map(({ id, name, full_path }) => ({
    id,
    name,
    full_path: `${root.full_path}${full_path.slice(planned.full_path.length)}`,
  }))
  await ownNewGroups(tx, moved, ctx.actor!.id)
  return undefined
}

/** Gives these subgroups of a group, and all below them, its path and name as they are now. Returns why they cannot have it. */
async function followRename(tx: Tx, parent: GroupRow, subgroups: readonly GroupRow[]): Promise<string | undefined> {
  for (const { traversal_ids, full_path, full_name, path, name } of subgroups) {
    await retireRoutes(tx, traversal_ids)
    const to = { path, fullPath: `${parent.full_path}/${path}`, fullName: `${parent.full_name} / ${name}` }
    const violation = await renameTree(tx, traversal_ids, { fullPath: full_path, fullName: full_name }, to)
    if (violation !== undefined) return violation
  }
  return undefined
}

const flags = [
  'share_with_group_lock',
  'membership_lock',
  'require_two_factor_authentication',
  'request_access_enabled',
] as const
const optionalFlags = ['auto_devops_enabled', 'emails_disabled', 'mentions_disabled', 'lfs_enabled'] as const

/**
 * The attributes of an archive that a group may have, and the visibility of the archive at most that of `parent`; without a parent it stays
 * private.
 */
function attributesFor(
  ctx: Ctx,
  given: Given,
  parent: Pick<GroupRow, 'visibility' | 'share_with_group_lock'> | undefined,
): Partial<GroupAttributes> & Pick<GroupAttributes, 'visibility'> {
  const own = (name: string): unknown => (Object.hasOwn(given, name) ? given[name] : undefined)
  const { visibility, description, two_factor_grace_period: grace } = given
  const open = [20, 10, 0].find(
    (level) =>
      level <= Number(visibility) &&
      level <= (parent?.visibility ?? 0) &&
      restrictedVisibility(ctx, visibilityName(level)).length === 0,
  )
  return {
    visibility: open ?? 0,
    ...(typeof description === 'string' &&
      !description.includes('\0') &&
      description.isWellFormed() &&
      descriptionViolations(description).length === 0 && { description }),
    ...Object.fromEntries(flags.flatMap((name) => (typeof own(name) === 'boolean' ? [[name, own(name)]] : []))),
    ...Object.fromEntries(optionalFlags.flatMap((name) => (typeof own(name) === 'boolean' ? [[name, own(name)]] : []))),
    ...(Number.isSafeInteger(grace) &&
      Number(grace) >= 0 &&
      Number(grace) < 2 ** 31 && { two_factor_grace_period: Number(grace) }),
    ...oneOf('project_creation_level', own('project_creation_level'), ['noone', 'maintainer', 'developer']),
    ...oneOf('subgroup_creation_level', own('subgroup_creation_level'), ['owner', 'maintainer']),
    // The importer may not be allowed to unlock it.
    ...(parent?.share_with_group_lock && { share_with_group_lock: true }),
  }
}

const oneOf = (name: string, value: unknown, known: readonly string[]): object =>
  known.includes(value as string) ? { [name]: value } : {}
