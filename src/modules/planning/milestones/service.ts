import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { violatedUnique } from '../../../db/violations.ts'
import { emit } from '../../../events/log.ts'
import { type FieldViolations, invalid, invalidFields, rowNotFound } from '../../../kernel/failure.ts'
import { blank, lengthViolations, violationsOf } from '../../../kernel/violations.ts'
import { holdPlace, type ProjectOrGroupHolder, placeOf } from '../../groups/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { followDueDate } from '../order-copies/jobs.ts'
import { holdGroupAround, requireOfGroup } from '../promotions/group.ts'
import {
  deleteMilestone,
  deleteMilestones,
  type HeldMilestone,
  insertMilestone,
  isTitleTaken,
  lockAlike,
  lockMilestone,
  lockMilestonesBelow,
  type MilestoneValues,
  updateMilestone,
} from './edit-queries.ts'
import { type DatedMilestoneRow, findMilestone, lockUsableMilestone } from './queries.ts'

const longest = { title: 255, description: 65_536 }
const used = 'already being used for another group or project milestone.'

const refuse = (verb: 'create' | 'update', fields: FieldViolations) => invalidFields(fields, `${verb} milestone`)

function check(verb: 'create' | 'update', { title, description, start_date, due_date }: MilestoneValues): void {
  const violations = violationsOf({
    title: titleViolations(title),
    description: lengthViolations(description ?? '', longest.description),
    // Dates as text sort by time.
    due_date:
      start_date !== null && due_date !== null && due_date < start_date ? ['must be greater than start date'] : [],
  })
  if (violations) throw refuse(verb, violations)
}

const titleViolations = (title: string): string[] => {
  if (title.trim() === '') return [blank]
  return [...lengthViolations(title, longest.title), ...(/\p{Cc}/u.test(title) ? ['is invalid'] : [])]
}

const asUsed =
  (verb: 'create' | 'update') =>
  (error: unknown): never => {
    throw violatedUnique(error)?.endsWith('_title') ? refuse(verb, { title: [used] }) : error
  }

export async function getMilestone(ctx: Ctx, holder: ProjectOrGroupHolder, id: number): Promise<DatedMilestoneRow> {
  const milestone = await findMilestone(ctx.db, holder, id)
  if (!milestone) throw rowNotFound()
  return milestone
}

/**
 * The id of the milestone to set: null for none, undefined (ignored) if the project cannot use it. Looked up in the transaction that sets
 * it, whose next attempt misses one that was deleted meanwhile; until it ends, the project stays below the group of the milestone.
 */
export async function usableMilestone(
  tx: Tx,
  projectId: number,
  id: number | null | undefined,
): Promise<number | null | undefined> {
  if (!id) return id === undefined ? undefined : null
  await holdPlace(tx, { of: 'project', id: projectId })
  return lockUsableMilestone(tx, projectId, id)
}

export type MilestoneInput = {
  readonly [K in Exclude<keyof MilestoneValues, 'state'>]?: MilestoneValues[K] | undefined
}

/** Fails if the title is used in the same project or group, or in a group above. */
export async function createMilestone(
  ctx: Ctx,
  holder: ProjectOrGroupHolder,
  { title, description = null, start_date = null, due_date = null }: MilestoneInput & { readonly title: string },
): Promise<DatedMilestoneRow> {
  const values = { title: title.trim(), description, start_date, due_date, state: 'active' } as const
  check('create', values)
  const { id } = await ctx
    .transaction(async (tx) => {
      if (await isTitleTaken(tx, holder, ctx.actor, values.title)) throw refuse('create', { title: [used] })
      const made = await insertMilestone(tx, holder, values)
      // The insert waits for changes of the holder.
      await tx.requirePermission?.()
      await record(ctx, tx, 'milestone_created', holder, made)
      return made
    })
    .catch(asUsed('create'))
  return getMilestone(ctx, holder, id)
}

/** Throws if there is no such milestone, or the caller has lost the permission during the wait for the lock. */
async function lockOwn(...[tx, holder, id]: Parameters<typeof lockMilestone>): Promise<HeldMilestone> {
  const held = await lockMilestone(tx, holder, id)
  await tx.requirePermission?.()
  if (!held) throw rowNotFound()
  return held
}

const stateAfter = { close: 'closed', activate: 'active' } as const
const kindOf = { closed: 'milestone_closed', active: 'milestone_reopened' } as const

/** Absent fields stay unchanged. Values as they are leave no trace. */
export async function editMilestone(
  ctx: Ctx,
  holder: ProjectOrGroupHolder,
  id: number,
  { state_event, ...input }: MilestoneInput & { readonly state_event?: keyof typeof stateAfter | undefined },
): Promise<DatedMilestoneRow> {
  await ctx
    .transaction(async (tx) => {
      const held = await lockOwn(tx, holder, id)
      const values = valuesAfter(held, input, state_event && stateAfter[state_event])
      check('update', values)
      if (values.title !== held.title && (await isTitleTaken(tx, holder, ctx.actor, values.title)))
        throw refuse('update', { title: [used] })
      if (!(await updateMilestone(tx, id, values))) return
      if (values.due_date !== held.due_date) await followDueDate(tx, id)
      const now = { ...held, ...values }
      if (values.state === held.state) await record(ctx, tx, 'milestone_updated', holder, now)
      else await record(ctx, tx, kindOf[values.state], holder, now)
    })
    .catch(asUsed('update'))
  return getMilestone(ctx, holder, id)
}

const valuesAfter = (
  held: MilestoneValues,
  { title, description, start_date, due_date }: MilestoneInput,
  state = held.state,
): MilestoneValues => ({
  title: title?.trim() ?? held.title,
  description: description === undefined ? held.description : description,
  start_date: start_date === undefined ? held.start_date : start_date,
  due_date: due_date === undefined ? held.due_date : due_date,
  state,
})

export async function removeMilestone(ctx: Ctx, holder: ProjectOrGroupHolder, id: number): Promise<void> {
  await ctx.transaction(async (tx) => {
    const held = await lockOwn(tx, holder, id)
    await deleteMilestone(tx, id)
    await record(ctx, tx, 'milestone_deleted', holder, held)
  })
}

/**
 * Promotes a milestone of a project to its group; it replaces the milestones of the same title in projects below the group. The
 * caller must be allowed to change milestones of the group.
 */
export async function promoteMilestone(ctx: Ctx, project: ProjectSubject, id: number): Promise<DatedMilestoneRow> {
  const own = { of: 'project', id: project.id } as const
  const made = await ctx
    .transaction(async (tx) => {
      const holder = await holdGroupAround(tx, ctx, project.id, 'Project does not belong to a group.')
      await lockAlike(tx, holder.id, id)
      const held = await lockOwn(tx, own, id)
      await requireOfGroup({ ...ctx, db: tx }, holder.id, 'admin_milestone')
      if (await isTitleTaken(tx, holder, ctx.actor, held.title)) throw invalid(`Title ${used}`)
      const promoted = await insertMilestone(tx, holder, held)
      const replaced = await lockMilestonesBelow(tx, holder.id, held.title)
      await emit(tx, {
        kind: 'milestones_replaced',
        groupId: holder.id,
        actorId: ctx.actor!.id,
        payload: { milestone_id: promoted.id },
        facts: { replaced_ids: replaced },
      })
      await deleteMilestones(tx, replaced)
      await record(ctx, tx, 'milestone_promoted', holder, promoted)
      return { holder, id: promoted.id }
    })
    .catch((error: unknown) => {
      throw violatedUnique(error)?.endsWith('_title') ? invalid(`Title ${used}`) : error
    })
  return getMilestone(ctx, made.holder, made.id)
}

const record = (
  ctx: Ctx,
  tx: Tx,
  kind:
    | 'milestone_created'
    | 'milestone_updated'
    | 'milestone_closed'
    | 'milestone_reopened'
    | 'milestone_deleted'
    | 'milestone_promoted',
  holder: ProjectOrGroupHolder,
  { id, iid, title }: HeldMilestone,
) =>
  emit(tx, {
    kind,
    ...placeOf(holder),
    actorId: ctx.actor!.id,
    payload: { milestone_id: id, iid },
    shown: { target: { type: 'Milestone', id, iid, title } },
  })
