import { epicPolicy } from '../../../access/epic-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { forbidden, invalid } from '../../../kernel/failure.ts'
import { addNotesOnBothSides } from '../../discussion/index.ts'
import { mostChildren, mostGenerations } from './limits.ts'
import { asNamed } from './noteable.ts'
import { type EpicSubject, epicNotFound, loadEpicById } from './subject.ts'
import {
  countChildren,
  findNamedEpic,
  findParentId,
  fitOf,
  lockTree,
  type NamedEpicRow,
  removeParent,
  saveParent,
} from './tree-queries.ts'

/** An epic of the request that the caller may change, by its id. */
export async function changeableEpic(ctx: Ctx, id: number): Promise<EpicSubject> {
  const found = await loadEpicById(id, ctx)
  if (!found) throw epicNotFound()
  if (!allows(epicPolicy.update_epic, ctx.actor, found.facts)) throw forbidden()
  return found
}

/**
 * Locks the tree in which an epic of a group is, and keeps the group there. Call it before rows of epics are locked. Throws if the caller has
 * lost the permission meanwhile.
 */
export async function holdTree(tx: Tx, groupId: number): Promise<void> {
  if (!(await lockTree(tx, groupId))) throw epicNotFound()
  await tx.requirePermission?.()
}

/** Gives an epic another parent, or none. The tree is locked. Throws if the caller may not change the new parent. */
export async function changeParent(tx: Tx, ctx: Ctx, childId: number, now: number | null): Promise<void> {
  const actorId = ctx.actor!.id
  const child = await findNamedEpic(tx, childId)
  const was = await findParentId(tx, childId)
  if (!child || was === now) return
  const [before, parent] = [
    was === null ? undefined : await findNamedEpic(tx, was),
    now === null ? undefined : await findNamedEpic(tx, now),
  ]
  if (now !== null && !parent) throw epicNotFound()
  if (before) await removeFromParent(tx, actorId, child, before)
  if (parent) await placeBelow(tx, ctx, child, parent)
}

/** Makes an epic the last child of another one, below which its group must be. The tree is locked. */
async function placeBelow(tx: Tx, ctx: Ctx, child: NamedEpicRow, parent: NamedEpicRow): Promise<void> {
  const { related, cycle, generations } = await fitOf(tx, child.id, parent.id)
  if (cycle) throw invalid('An epic cannot be its own ancestor')
  if (!related) throw invalid('The group of an epic must be the group of its parent or below it')
  if (generations > mostGenerations) throw invalid(`Epics can be nested ${mostGenerations} levels deep`)
  if ((await countChildren(tx, parent.id)) >= mostChildren)
    throw invalid(`An epic can have ${mostChildren} child epics`)
  await saveParent(tx, child.id, parent.id)
  // It waits for changes of the parent.
  await tx.requirePermission?.()
  await changeableEpic({ ...ctx, db: tx }, parent.id)
  await noteBoth(tx, ctx.actor!.id, child, parent, ['added', 'as child epic', 'as parent epic'])
}

/** Removes an epic from its parent. The tree is locked. */
async function removeFromParent(tx: Tx, actorId: number, child: NamedEpicRow, parent: NamedEpicRow): Promise<void> {
  await removeParent(tx, child.id)
  await noteBoth(tx, actorId, child, parent, ['removed', 'from child epics', 'as parent epic'])
}

/** Adds a note to each of the two epics. */
const noteBoth = (
  tx: Tx,
  authorId: number,
  child: NamedEpicRow,
  parent: NamedEpicRow,
  [verb, asChild, asParent]: readonly [verb: string, asChild: string, asParent: string],
): Promise<void> =>
  addNotesOnBothSides(tx, authorId, [
    { on: asNamed(parent), text: (name) => `${verb} epic ${name} ${asChild}` },
    { on: asNamed(child), text: (name) => `${verb} epic ${name} ${asParent}` },
  ])
