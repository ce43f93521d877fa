import { visibilityName } from '../../../access/levels.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import {
  claimRoute,
  fullPathViolations,
  groupNameViolations,
  insertGroup,
  namespacePathViolations,
  newRunnersToken,
  restrictedVisibility,
} from '../../namespaces/index.ts'
import { ownNewGroup } from '../groups/created.ts'
import { type GroupAttributes, updateGroupAttributes } from '../groups/edit-queries.ts'
import { type GroupRow, lockGroup } from '../groups/queries.ts'
import { deepestNesting, descriptionViolations } from '../groups/service.ts'

type Given = Readonly<Record<string, unknown>>

/** Why a group of an archive cannot be created. */
export type GroupRefused = { readonly refused: string }

/** Creates a group of an archive below another one. The access lock is held. */
export async function createImportedGroup(
  ctx: Ctx,
  tx: Tx,
  parentId: number,
  given: Given,
): Promise<number | GroupRefused> {
  const parent = await lockGroup(tx, parentId)
  if (!parent) return { refused: 'its parent no longer exists' }
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
  await ownNewGroup(tx, groupId, ctx.actor!.id, { name, full_path: fullPath })
  return groupId
}

const flags = [
  'share_with_group_lock',
  'membership_lock',
  'require_two_factor_authentication',
  'request_access_enabled',
] as const
const optionalFlags = ['auto_devops_enabled', 'emails_disabled', 'mentions_disabled', 'lfs_enabled'] as const

/**
 * Gives an imported group the attributes of its archive that a group may have, and the visibility of the archive at most that of
 * `parent`; without a parent it stays private.
 */
export async function restoreGroup(
  ctx: Ctx,
  tx: Tx,
  id: number,
  given: Given,
  parent: Pick<GroupRow, 'visibility' | 'share_with_group_lock'> | undefined,
): Promise<void> {
  const own = (name: string): unknown => (Object.hasOwn(given, name) ? given[name] : undefined)
  const { visibility, description, two_factor_grace_period: grace } = given
  const open = [20, 10, 0].find(
    (level) =>
      level <= Number(visibility) &&
      level <= (parent?.visibility ?? 0) &&
      restrictedVisibility(ctx, visibilityName(level)).length === 0,
  )
  const attributes: Partial<GroupAttributes> = {
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
  await updateGroupAttributes(tx, id, attributes)
}

const oneOf = (name: string, value: unknown, known: readonly string[]): object =>
  known.includes(value as string) ? { [name]: value } : {}
