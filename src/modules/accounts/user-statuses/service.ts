import type { Ctx } from '../../../api/ctx.ts'
import { invalidFields } from '../../../kernel/failure.ts'
import { lengthViolations, violationsOf } from '../../../kernel/violations.ts'
import { isEmoji, usualName } from '../../../markdown/emoji.ts'
import { noStatus } from './entity.ts'
import { deleteStatus, findStatus, type StatusRow, saveStatus } from './queries.ts'

type Status = StatusRow | typeof noStatus

const maxMessageLength = 100
const defaultEmoji = 'speech_balloon'

export const statusOf = async (ctx: Ctx, userId: number): Promise<Status> =>
  (await findStatus(ctx.db, userId)) ?? noStatus

/** Sets the caller's status; removes it if emoji and message are blank. */
export async function setStatus(ctx: Ctx, emoji: string, message: string): Promise<Status> {
  const userId = ctx.actor!.id
  if (emoji.trim() === '' && message.trim() === '') {
    await deleteStatus(ctx.db, userId)
    return noStatus
  }
  const status = { emoji: emoji.trim() === '' ? defaultEmoji : usualName(emoji), message }
  const violations = violationsOf({
    emoji: isEmoji(status.emoji) ? [] : ['is not included in the list'],
    message: lengthViolations(message, maxMessageLength),
  })
  if (violations) throw invalidFields(violations)
  await ctx.transaction((tx) => saveStatus(tx, userId, status))
  return status
}
