import { epicPolicy } from '../../../access/epic-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { invalidFields, notFound, rowNotFound } from '../../../kernel/failure.ts'
import { violationsOf } from '../../../kernel/violations.ts'
import { cleanTitle, finishTodos, noteMentions, textViolations } from '../../discussion/index.ts'
import { type GroupSubject, holdPlace } from '../../groups/index.ts'
import { changesOf } from '../changes/attributes.ts'
import { changeNotes, longDate } from '../changes/notes.ts'
import { recordEdit } from '../changes/record.ts'
import { editLabels, type LabelEdit } from '../labels/assign.ts'
import {
  deleteEpic,
  type EpicFacts,
  type EpicValues,
  insertEpic,
  lockChildren,
  readEpicFacts,
  saveClosed,
  saveCreated,
  saveEpicValues,
  saveReopened,
} from './edit-queries.ts'
import { emitEpic } from './events.ts'
import { asNoteable } from './noteable.ts'
import { lockEpic, touchEpic } from './queries.ts'
import { type EpicSubject, epicNotFound, loadEpicById } from './subject.ts'
import { changeableEpic, changeParent, holdTree } from './tree.ts'

/** Absent fields stay unchanged; null clears. */
export type EpicEdit = LabelEdit & {
  readonly title?: string
  readonly description?: string | null
  readonly confidential?: boolean
  readonly state_event?: 'close' | 'reopen'
  readonly start_date_is_fixed?: boolean
  /** `YYYY-MM-DD` */
  readonly start_date_fixed?: string | null
  readonly due_date_is_fixed?: boolean
  readonly due_date_fixed?: string | null
  readonly parent_id?: number | null
  /** Ignored unless the caller may set it. */
  readonly updated_at?: Date
}

export type EpicInput = Omit<EpicEdit, 'state_event' | 'updated_at'> & {
  readonly title: string
  /** Ignored unless the caller may set it. */
  readonly created_at?: Date
}

const attributes = [
  'title',
  'description',
  'state',
  'confidential',
  'labels',
  'parent_id',
  'start_date_is_fixed',
  'start_date_fixed',
  'due_date_is_fixed',
  'due_date_fixed',
] as const satisfies readonly (keyof EpicFacts)[]

/** The title as it is saved. Fails with all violations of title and description. */
function requireTexts<E extends Pick<EpicEdit, 'title' | 'description'>>(given: E): E {
  const clean = given.title === undefined ? given : { ...given, title: cleanTitle(given.title) }
  const violations = violationsOf(textViolations(clean))
  if (violations) throw invalidFields(violations)
  return clean
}

/** The values before an edit; those of a new epic. */
const blank: EpicValues = {
  title: '',
  description: null,
  confidential: false,
  startDateIsFixed: false,
  startDateFixed: null,
  dueDateIsFixed: false,
  dueDateFixed: null,
}

const pick = <T>(given: T | undefined, before: T): T => (given === undefined ? before : given)

/** The values after an edit. */
const valuesAfter = (before: EpicValues, edit: EpicEdit): EpicValues => ({
  title: pick(edit.title, before.title),
  description: pick(edit.description, before.description),
  confidential: pick(edit.confidential, before.confidential),
  startDateIsFixed: pick(edit.start_date_is_fixed, before.startDateIsFixed),
  startDateFixed: pick(edit.start_date_fixed, before.startDateFixed),
  dueDateIsFixed: pick(edit.due_date_is_fixed, before.dueDateIsFixed),
  dueDateFixed: pick(edit.due_date_fixed, before.dueDateFixed),
})

/** Whether the caller may set times of an epic at this moment. */
async function mayDate(ctx: Ctx, tx: Tx, id: number): Promise<boolean> {
  const now = await loadEpicById(id, { ...ctx, db: tx })
  return now !== undefined && allows(epicPolicy.date_note, ctx.actor, now.facts)
}

/** Creates an epic of a group. With a parent, the caller must be allowed to change that. */
export async function createEpic(
  ctx: Ctx,
  group: GroupSubject,
  given: EpicInput,
): Promise<{ readonly id: number; readonly iid: number }> {
  const input = requireTexts(given)
  const parentId = input.parent_id ? (await changeableEpic(ctx, input.parent_id)).id : undefined
  const authorId = ctx.actor!.id
  return ctx.transaction(async (tx) => {
    if (parentId !== undefined) await holdTree(tx, group.id)
    const made = await insertEpic(tx, { groupId: group.id, authorId, ...valuesAfter(blank, input) })
    if (!made) throw notFound('Group')
    // The insert waits for changes of the group.
    await tx.requirePermission?.()
    const createdAt = input.created_at && (await mayDate(ctx, tx, made.id)) ? input.created_at : undefined
    if (createdAt) await saveCreated(tx, made.id, createdAt)
    const noteable = asNoteable({ id: made.id, group_id: group.id })
    await editLabels(tx, ctx, noteable, [], input, createdAt)
    if (parentId !== undefined) await changeParent(tx, ctx, made.id, parentId)
    if (input.description) await noteMentions(tx, noteable, { text: input.description, authorId, isNew: true })
    await emitEpic(tx, made.id, { kind: 'epic_opened', actorId: authorId })
    return made
  })
}

/**
 * Updates an epic. `updated_at` is ignored unless the caller may set times; it is also the time of the notes and label events that follow
 * from the edit. A state event that does not fit the state is ignored. Unchanged values are not written.
 */
export async function editEpic(ctx: Ctx, subject: EpicSubject, given: EpicEdit): Promise<void> {
  const edit = requireTexts(given)
  if (edit.parent_id) await changeableEpic(ctx, edit.parent_id)
  await ctx.transaction((tx) => apply(ctx, tx, subject, edit))
}

/** Writes the changed values and their consequences. */
async function apply(ctx: Ctx, tx: Tx, { id, group_id }: EpicSubject, edit: EpicEdit): Promise<void> {
  const actorId = ctx.actor!.id
  if (edit.parent_id !== undefined) await holdTree(tx, group_id)
  else await holdPlace(tx, { of: 'group', id: group_id })
  const row = await lockEpic(tx, id)
  if (!row) throw rowNotFound()
  // The request may name its parent, or only a note.
  const { facts } = await changeableEpic({ ...ctx, db: tx }, id)
  const at = allows(epicPolicy.date_note, ctx.actor, facts) ? edit.updated_at : undefined
  const noteable = asNoteable(row)
  const before = await readEpicFacts(tx, id)
  await saveEpicValues(tx, id, valuesAfter(valuesOf(before), edit))
  await editLabels(tx, ctx, noteable, before.labels, edit, at)
  if (edit.state_event === 'close' && row.state === 'opened') {
    await saveClosed(tx, id, actorId)
    await finishTodos(tx, actorId, noteable)
  }
  if (edit.state_event === 'reopen' && row.state === 'closed') await saveReopened(tx, id)
  if (edit.parent_id !== undefined) await changeParent(tx, ctx, id, edit.parent_id)
  const now = await readEpicFacts(tx, id)
  const changes = changesOf(attributes, before, now)
  const isChanged = Object.keys(changes).length > 0
  if (!isChanged && !at) return
  await touchEpic(tx, id, at)
  if (!isChanged) return
  await recordEdit(tx, {
    noteable,
    actorId,
    now,
    changes,
    notes: await notesOf(tx, before, now),
    at,
    emit: (verb, changed) => emitEpic(tx, id, { kind: `epic_${verb}`, actorId, changes: changed }),
  })
}

const valuesOf = (facts: EpicFacts): EpicValues => ({
  title: facts.title,
  description: facts.description,
  confidential: facts.confidential,
  startDateIsFixed: facts.start_date_is_fixed,
  startDateFixed: facts.start_date_fixed,
  dueDateIsFixed: facts.due_date_is_fixed,
  dueDateFixed: facts.due_date_fixed,
})

/** What issues have and epics do not. */
const unplanned = { assignee_ids: [], milestone_id: null, discussion_locked: null }

/** The texts of system notes about changed attributes. Labels have events of their own, parents have notes on both sides. */
function notesOf(tx: Tx, before: EpicFacts, now: EpicFacts): Promise<string[]> {
  const others = [
    before.confidential !== now.confidential &&
      (now.confidential ? 'made the epic confidential' : 'made the epic visible to everyone'),
    dateNote('start', before.start_date_fixed, now.start_date_fixed),
    dateNote('due', before.due_date_fixed, now.due_date_fixed),
  ]
  return changeNotes(tx, 'epic', { ...before, ...unplanned }, { ...now, ...unplanned }, { afterAssignees: others })
}

const dateNote = (which: 'start' | 'due', before: string | null, now: string | null): string | false =>
  before !== now &&
  (now === null ? `removed the fixed ${which} date` : `changed the fixed ${which} date to ${longDate(now)}`)

/** Deletes an epic with its notes. Its issues and children remain. */
export async function removeEpic(ctx: Ctx, { id, group_id }: EpicSubject): Promise<void> {
  await ctx.transaction(async (tx) => {
    await holdTree(tx, group_id)
    await lockChildren(tx, id)
    const held = await lockEpic(tx, id, 'delete')
    if (!held) throw epicNotFound()
    await emitEpic(tx, id, { kind: 'epic_deleted', actorId: ctx.actor!.id, confidential: held.confidential })
    await deleteEpic(tx, id)
  })
}
