import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'
import { invalidFields, rowNotFound, unauthenticated } from '../../../kernel/failure.ts'
import { taken } from '../../../kernel/violations.ts'
import { isEmoji, usualName } from '../../../markdown/emoji.ts'
import { placeOf } from '../../groups/index.ts'
import { noteableFacts } from '../noteables/facts.ts'
import type { Discussed } from '../noteables/noteable.ts'
import { finishTodos } from '../todos/service.ts'
import { type Awardable, type AwardRow, deleteAward, findAward, findAwardByName, insertAward } from './queries.ts'

/** What is awarded: a noteable, or a note of it. */
export type Awarded = Awardable & { readonly noteable: Pick<Discussed, 'type' | 'id' | 'iid' | 'holder'> }

const refuse = (violation: string) => invalidFields({ name: [violation] }, 'award emoji')

const factsOf = ({ noteable, noteId }: Awarded, { id, name }: AwardRow) => ({
  award_emoji_id: id,
  name,
  ...noteableFacts(noteable),
  note_id: noteId,
})

export async function getAward(ctx: Ctx, awarded: Awarded, id: number): Promise<AwardRow> {
  const award = await findAward(ctx.db, awarded, id)
  if (!award) throw rowNotFound()
  return award
}

/** Awards an emoji; one user gives each emoji once. */
export async function giveAward(ctx: Ctx, awarded: Awarded, wanted: string): Promise<AwardRow> {
  if (!isEmoji(wanted)) throw refuse('is not included in the list')
  const name = usualName(wanted)
  const userId = ctx.actor!.id
  return ctx.transaction(async (tx) => {
    const award = await insertAward(tx, awarded, userId, name)
    // The insert waits for changes of what is awarded.
    await tx.requirePermission?.()
    if (!award) throw refuse(taken)
    await finishTodos(tx, userId, awarded.noteable)
    await emit(tx, {
      kind: 'award_emoji_given',
      ...placeOf(awarded.noteable.holder),
      actorId: userId,
      payload: factsOf(awarded, award),
    })
    return award
  })
}

/** Awards an emoji, or withdraws the award of the caller. */
export async function toggleAward(ctx: Ctx, awarded: Awarded, wanted: string): Promise<void> {
  const mine = ctx.actor && (await findAwardByName(ctx.db, awarded, ctx.actor.id, usualName(wanted)))
  if (mine) await withdrawAward(ctx, awarded, mine)
  else await giveAward(ctx, awarded, wanted)
}

/** Deletes an award. Compat: for another user's award, callers other than administrators get 401 instead of 403. */
export async function withdrawAward(ctx: Ctx, awarded: Awarded, id: number): Promise<void> {
  const award = await getAward(ctx, awarded, id)
  const { id: userId, admin } = ctx.actor!
  if (award.user.id !== userId && !admin) throw unauthenticated()
  await ctx.transaction(async (tx) => {
    if (!(await deleteAward(tx, awarded.noteable, id))) throw rowNotFound()
    await tx.requirePermission?.()
    await emit(tx, {
      kind: 'award_emoji_withdrawn',
      ...placeOf(awarded.noteable.holder),
      actorId: userId,
      payload: factsOf(awarded, award),
    })
  })
}
