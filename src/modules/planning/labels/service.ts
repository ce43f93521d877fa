import type { Ctx } from '../../../api/ctx.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { violatedUnique } from '../../../db/violations.ts'
import { emit } from '../../../events/log.ts'
import { conflict, invalidFields, notFound } from '../../../kernel/failure.ts'
import { lengthViolations, taken, violationsOf } from '../../../kernel/violations.ts'
import { type Holder, type ProjectOrGroupHolder, placeOf } from '../../groups/index.ts'
import { beginPriority, followPriority } from '../order-copies/jobs.ts'
import { parseColor } from './colors.ts'
import {
  deleteLabel,
  deleteSubscription,
  insertLabel,
  insertSubscription,
  type LabelValues,
  savePriority,
  updateLabel,
} from './edit-queries.ts'
import { findLabel, type LabelName, type LabelRow, lockOwnLabel, type Place } from './queries.ts'
import { titleViolations } from './titles.ts'

/** Stored ones may be longer. With details, each issue of a list repeats the descriptions of its labels. */
const longestDescription = 1024

/** What a path segment may mean: digits are an id, but a title may consist of digits, too. */
export const namesIn = (text: string): LabelName[] => [
  ...(/^\d{1,15}$/.test(text) ? [{ id: Number(text) }] : []),
  { title: text },
]

/** The first label found. */
async function firstOf(
  names: readonly LabelName[],
  look: (name: LabelName) => Promise<LabelRow | undefined>,
): Promise<LabelRow> {
  for (const name of names) {
    const label = await look(name)
    if (label) return label
  }
  throw notFound('Label')
}

/** A label of a project or group; with `ancestors` also one of the groups above it. */
export const getLabel = (
  db: Db,
  place: Place,
  names: readonly LabelName[],
  { ancestors = true } = {},
): Promise<LabelRow> => firstOf(names, (name) => findLabel(db, place, name, { ancestors }))

/** Locks a label of a project or group. Throws if the caller has lost the permission meanwhile. */
export const lockLabel = (tx: Tx, place: Place, names: readonly LabelName[]): Promise<LabelRow> =>
  firstOf(names, async (name) => {
    const held = await lockOwnLabel(tx, place, name)
    await tx.requirePermission?.()
    return held
  })

/** Validates the attributes of a label; fails with all violations. A description that it has already is not validated again. */
function checked({ name, color, description }: LabelValues, held?: LabelRow): LabelValues {
  const parsed = parseColor(color)
  const violations = violationsOf({
    title: titleViolations(name),
    color: parsed === undefined ? ['must be a valid color code'] : [],
    description: description === held?.description ? [] : lengthViolations(description ?? '', longestDescription),
  })
  if (violations) throw invalidFields(violations)
  return { name: name.trim(), color: parsed!, description }
}

export type LabelChanges = { readonly [K in keyof LabelValues]?: LabelValues[K] | undefined } & {
  readonly priority?: number | null | undefined
}

/** Fails if the title is already used there. */
export async function createLabel(
  ctx: Ctx,
  holder: ProjectOrGroupHolder,
  { name, color, description = null, priority }: LabelChanges & { readonly name: string; readonly color: string },
): Promise<LabelRow> {
  const values = checked({ name, color, description })
  const place = { holder, caller: ctx.actor }
  return ctx.transaction(async (tx) => {
    const exists = await findLabel(tx, place, { title: values.name }, { ancestors: true })
    const id = exists ? undefined : await insertLabel(tx, holder, values)
    // The insert waits for changes of the holder.
    await tx.requirePermission?.()
    if (id === undefined) throw conflict('Label already exists')
    if (priority !== undefined) await savePriority(tx, holder.id, id, priority)
    await recordLabel(ctx, tx, 'label_created', holder, id)
    return getLabel(tx, place, [{ id }])
  })
}

/**
 * Absent fields stay unchanged. A project sets priorities of group labels, too, but cannot change their other attributes. Values as they are
 * leave no trace.
 */
export async function editLabel(
  ctx: Ctx,
  holder: ProjectOrGroupHolder,
  names: readonly LabelName[],
  { priority, ...changes }: LabelChanges,
): Promise<LabelRow> {
  const place = { holder, caller: ctx.actor }
  const changesLabel = Object.values(changes).some((value) => value !== undefined)
  return ctx
    .transaction(async (tx) => {
      const held = changesLabel ? await lockLabel(tx, place, names) : await getLabel(tx, place, names)
      const isChanged = changesLabel && (await changeLabel(tx, place, held, changes))
      const isMoved = priority !== undefined && (await changePriority(tx, holder.id, held.id, priority))
      if (isChanged || isMoved) await recordLabel(ctx, tx, 'label_updated', holder, held.id)
      return getLabel(tx, place, [{ id: held.id }])
    })
    .catch((error: unknown) => {
      throw violatedUnique(error)?.startsWith('labels_') ? invalidFields({ title: [taken] }) : error
    })
}

/** False if nothing changed. */
async function changePriority(tx: Tx, projectId: number, labelId: number, priority: number | null): Promise<boolean> {
  const use = { project_id: projectId, label_id: labelId }
  await beginPriority(tx, use)
  const isChanged = await savePriority(tx, projectId, labelId, priority)
  // Both wait for changes of the label.
  await tx.requirePermission?.()
  if (!isChanged) return false
  await followPriority(tx, use)
  return true
}

/** False if nothing changed. */
async function changeLabel(
  tx: Tx,
  place: Place,
  held: LabelRow,
  changes: Omit<LabelChanges, 'priority'>,
): Promise<boolean> {
  const { name = held.name, color = held.color, description = held.description } = changes
  const values = checked({ name, color, description }, held)
  const other = await findLabel(tx, place, { title: values.name }, { ancestors: true })
  if (other && other.id !== held.id && values.name !== held.name) throw invalidFields({ title: [taken] })
  return updateLabel(tx, held.id, values)
}

export async function removeLabel(ctx: Ctx, holder: ProjectOrGroupHolder, names: readonly LabelName[]): Promise<void> {
  await ctx.transaction(async (tx) => {
    const held = await lockLabel(tx, { holder, caller: ctx.actor }, names)
    await deleteLabel(tx, held.id)
    await recordLabel(ctx, tx, 'label_deleted', holder, held.id)
  })
}

/** Resolves to the changed label; undefined if nothing changed. */
export async function setSubscription(
  ctx: Ctx,
  holder: ProjectOrGroupHolder,
  names: readonly LabelName[],
  wanted: boolean,
): Promise<LabelRow | undefined> {
  const place = { holder, caller: ctx.actor }
  const change = wanted ? insertSubscription : deleteSubscription
  return ctx.transaction(async (tx) => {
    // Within the transaction: one that runs again, because the label was deleted or promoted meanwhile, looks again.
    const { id } = await getLabel(tx, place, names)
    return (await change(tx, ctx.actor!.id, id)) ? getLabel(tx, place, [{ id }]) : undefined
  })
}

export const recordLabel = (
  ctx: Ctx,
  tx: Tx,
  kind: 'label_created' | 'label_updated' | 'label_deleted' | 'label_promoted',
  holder: Holder,
  labelId: number,
) => emit(tx, { kind, ...placeOf(holder), actorId: ctx.actor!.id, payload: { label_id: labelId } })
