import { groupPolicy } from '../../../access/group-policy.ts'
import { visibilities } from '../../../access/levels.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { invalid, notFound } from '../../../kernel/failure.ts'
import { taken } from '../../../kernel/violations.ts'
import {
  awaitContents,
  deepestNesting,
  ensureOwner,
  type GroupSubject,
  loadGroup,
  lockGroup,
  lockGroupPlace,
} from '../../groups/index.ts'
import {
  lockAccess,
  lockSharingBelow,
  moveTree,
  namespacePathViolations,
  namespacePlaced,
  renameTree,
} from '../../namespaces/index.ts'
import { withAudiencesLowered } from '../../projects/index.ts'
import { replaceLeftBehind } from './left-behind.ts'
import { limitVisibility } from './limit-visibility.ts'
import { heightOf, projectsBelow } from './queries.ts'

const refuse = (text: string) => invalid(`Transfer failed: ${text}`)
const notAllowed = "You don't have enough permissions."

/**
 * Moves a group with its content below another group or to the top level. Lowers visibilities to that of the new parent
 * and turns old paths into redirects. At the top level, the caller becomes the owner of a group that has none of its own.
 */
export async function transferGroup(ctx: Ctx, group: GroupSubject, parentId: number | undefined): Promise<void> {
  const actor = ctx.actor!
  await awaitContents(ctx, group.id)
  const target = await requireTarget(ctx, parentId)
  const move = async (tx: Tx) => {
    await lockAccess(tx)
    const held = await lockGroupPlace(tx, group.id)
    if (!held) throw notFound('Group')
    const parent = parentId === undefined ? undefined : await lockGroup(tx, parentId)
    if (parentId !== undefined && !parent) throw notFound('Group')
    // Once it is locked: an edit of it may have taken the right.
    await requireTarget({ ...ctx, db: tx }, parentId)
    if (!parent && held.parent_id === null) throw refuse('Group is already a root group.')
    if (parent && parent.id === held.parent_id) throw refuse('Group is already associated to the parent group.')
    if (parent?.traversal_ids.includes(held.id)) throw refuse('Cannot transfer group to one of its subgroup.')
    const above = parent?.traversal_ids ?? []
    if (above.length + (await heightOf(tx, held.traversal_ids)) > deepestNesting)
      throw refuse('Group has too deep level of nesting.')
    // Other names are reserved at the top level than below a group.
    const [misplaced] = namespacePathViolations(held.path, parent !== undefined)
    if (misplaced !== undefined) throw refuse(`Path ${misplaced}.`)

    await moveTree(tx, held.traversal_ids, parent)
    const traversalIds = [...above, held.id]
    const fullPath = parent ? `${parent.full_path}/${held.path}` : held.path
    const fullName = parent ? `${parent.full_name} / ${held.name}` : held.name
    const from = { fullPath: held.full_path, fullName: held.full_name }
    const violation = await renameTree(tx, traversalIds, from, { path: held.path, fullPath, fullName })
    if (violation === taken) throw refuse('The parent group already has a subgroup or a project with the same path.')
    if (violation !== undefined) throw refuse(`Path ${violation}.`)
    const limited = parent && (await limitVisibility(tx, traversalIds, parent.visibility, actor.id))
    if (parent?.share_with_group_lock) await lockSharingBelow(tx, traversalIds)
    await namespacePlaced(tx, held.id)
    // Its owners may all have been those of the former parent.
    if (!parent) await ensureOwner(tx, { id: held.id, traversal_ids: traversalIds }, actor.id)
    await replaceLeftBehind(tx, projectsBelow(traversalIds), held.traversal_ids, traversalIds, {
      groupId: held.id,
      actorId: actor.id,
    })
    await emit(tx, {
      kind: 'group_transferred',
      groupId: held.id,
      actorId: actor.id,
      payload: {},
      facts: { old_full_path: held.full_path, full_path: fullPath },
    })
    await limited?.emitChanges()
  }
  const places = target ? [{ namespaceId: group.id }] : []
  await withAudiencesLowered(ctx, places, target?.visibility ?? visibilities.public, () => ctx.transaction(move))
}

/** The new parent; undefined for the top level. Throws unless the caller may move groups there. */
async function requireTarget(ctx: Ctx, parentId: number | undefined): Promise<GroupSubject | undefined> {
  const actor = ctx.actor!
  if (parentId === undefined) {
    if (!actor.admin && !actor.canCreateGroup) throw refuse(notAllowed)
    return undefined
  }
  const parent = await loadGroup(parentId, ctx)
  if (!parent || !allows(groupPolicy.read_group, actor, parent.facts)) throw notFound('Group')
  if (!allows(groupPolicy.create_subgroup, actor, parent.facts)) throw refuse(notAllowed)
  return parent
}
