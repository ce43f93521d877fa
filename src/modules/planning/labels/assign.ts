import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emitAll } from '../../../events/log.ts'
import { invalidFields } from '../../../kernel/failure.ts'
import type { PlannedNoteable } from '../../discussion/index.ts'
import { placeOf } from '../../groups/index.ts'
import { ensureLabels, findUsableLabels, replaceLabels } from './assign-queries.ts'
import { defaultColor } from './colors.ts'
import { titleViolations } from './titles.ts'

/** New labels of a noteable: all of them, or titles to add and to remove. */
export type LabelEdit = {
  readonly labels?: readonly string[] | undefined
  readonly add_labels?: readonly string[] | undefined
  readonly remove_labels?: readonly string[] | undefined
}

/** Changes the labels of a noteable, whose row is locked, from those with the titles `before`. Missing labels are created. */
export async function editLabels(
  tx: Tx,
  ctx: Pick<Ctx, 'actor'>,
  noteable: PlannedNoteable,
  before: readonly { readonly name: string }[],
  { labels, add_labels: added = [], remove_labels: removed = [] }: LabelEdit,
  at?: Date,
): Promise<void> {
  if (!labels && added.length === 0 && removed.length === 0) return
  const titles = [...(labels ?? before.map(({ name }) => name)), ...added]
  const removedTitles = new Set(removed.map((title) => title.trim()))
  const remaining = titles.filter((title) => !removedTitles.has(title.trim()))
  await setLabels(tx, ctx, noteable, remaining, { create: true, at })
}

/** Maximum labels of one noteable. */
const maxLabels = 1000

/**
 * Replaces the labels of a noteable, whose row is locked, by those with these titles, found among the labels of its project
 * or group and of the groups above. With `create`, valid titles that do not exist become labels of the project or group; others are ignored. Emits an event for
 * each added or removed label, with the time `at` if given. Resolves to whether anything changed.
 */
export async function setLabels(
  tx: Tx,
  ctx: Pick<Ctx, 'actor'>,
  noteable: PlannedNoteable,
  titles: readonly string[],
  { create, at }: { readonly create: boolean; readonly at?: Date | undefined },
): Promise<boolean> {
  const wanted = [...new Set(titles.map((title) => title.trim()))].filter(
    (title) => titleViolations(title).length === 0,
  )
  if (wanted.length > maxLabels) throw invalidFields({ labels: [`has too many (maximum is ${maxLabels})`] })
  const found = await findUsableLabels(tx, noteable, wanted)
  const known = new Set(found.map(({ title }) => title))
  const unknown = create ? wanted.filter((title) => !known.has(title)) : []
  const ensured = unknown.length > 0 ? await ensureLabels(tx, noteable.holder, unknown, defaultColor) : []
  await emitAll(
    tx,
    ensured
      .filter((label) => label.is_new)
      .map(({ id }) => ({
        kind: 'label_created',
        ...placeOf(noteable.holder),
        actorId: ctx.actor!.id,
        payload: { label_id: id },
      })),
  )
  const labelIds = [...found, ...ensured].map(({ id }) => id)
  return (await replaceLabels(tx, noteable, labelIds, { userId: ctx.actor!.id, at })) > 0
}
