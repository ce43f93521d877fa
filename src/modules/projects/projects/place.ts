import { type Visibility, visibilities, visibilityName } from '../../../access/levels.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { Failure, type FieldViolations, invalidFields } from '../../../kernel/failure.ts'
import { violationsOf } from '../../../kernel/violations.ts'
import {
  findNamespace,
  fullPathViolations,
  lockNamespace,
  mayCreateProjects,
  projectNameViolations,
  projectPathViolations,
  restrictedVisibility,
} from '../../namespaces/index.ts'
import { countPersonalProjects, lockProjectsLimit, takenNames } from './edit-queries.ts'

/** What a new project needs in its namespace. */
type Place = { readonly name: string; readonly path: string; readonly visibility: Visibility }

/**
 * The namespace of a new project, locked. Throws if the caller may not create projects there after the wait, if it has no room or the project
 * may not be there as it is, or for `others`.
 */
export async function lockPlace(
  ctx: Ctx,
  tx: Tx,
  namespaceId: number,
  { name, path, visibility }: Place,
  others: FieldViolations = {},
) {
  const held = await lockNamespace(tx, namespaceId)
  const actor = ctx.actor!
  const now = held && (await findNamespace(tx, actor, namespaceId))
  if (!held || !now || !mayCreateProjects(actor, now)) throw invalidFields({ namespace: ['is not valid'] })
  if (held.owner_id !== null) await requireRoom(tx, held.owner_id)
  await tx.requirePermission?.()
  const fullPath = `${held.full_path}/${path}`
  const taken = await takenNames(tx, { namespaceId: held.id, name, fullPath })
  const violations = violationsOf({
    name: [...projectNameViolations(name), ...taken.name],
    path: [...projectPathViolations(path), ...fullPathViolations(fullPath), ...taken.path],
    visibility_level: visibilityViolations(ctx, visibility, held),
    ...others,
  })
  if (violations) throw invalidFields(violations)
  return held
}

/** Throws what the creation of this project would throw now, and creates nothing. */
export const requireCreatable = async (ctx: Ctx, namespaceId: number, place: Place): Promise<void> => {
  await ctx.transaction((tx) => lockPlace(ctx, tx, namespaceId, place))
}

/** Errors of a visibility in a namespace, for the caller. */
export function visibilityViolations(
  ctx: Ctx,
  visibility: Visibility,
  namespace: { kind: string; visibility: number },
): string[] {
  const restricted = restrictedVisibility(ctx, visibility)
  if (restricted.length > 0) return restricted
  // Personal namespaces do not limit the visibility of their projects.
  if (namespace.kind === 'group' && visibilities[visibility] > namespace.visibility)
    return [`${visibility} is not allowed in a ${visibilityName(namespace.visibility)} group.`]
  return []
}

/**
 * Throws `limit_reached` if the owner has too many personal projects. Serialises creations; group projects do not
 * count.
 */
export async function requireRoom(tx: Tx, ownerId: number): Promise<void> {
  const limit = await lockProjectsLimit(tx, ownerId)
  if (limit > 0 && (await countPersonalProjects(tx, ownerId)) < limit) return
  throw new Failure(
    'limit_reached',
    limit === 0
      ? 'Personal project creation is not allowed. Please contact your administrator with questions'
      : `Your project limit is ${limit} projects! Please contact your administrator to increase it`,
  )
}
