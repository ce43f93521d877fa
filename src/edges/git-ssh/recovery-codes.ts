import { on } from 'node:events'
import type { Ctx } from '../../api/ctx.ts'
import { isTwoFactorEnabled, recoverCodes } from '../../modules/accounts/index.ts'
import { termsViolation } from '../../modules/instance/index.ts'
import { type Call, send, sendMessage } from './call.ts'

const question =
  'Are you sure that you want to generate new two-factor recovery codes?\nAny existing recovery codes become invalid. (yes/no)\n'
const advice =
  'Sign in with one of them instead of a code of your device, and set up another device. Each code works once.'

/**
 * Regenerates the recovery codes of a user who lost their device, after confirmation, unless `refusedNow` says why their key may not be
 * used any more. Resolves with the exit status.
 */
export async function recoveryCodes(
  call: Call,
  ctx: Ctx,
  refusedNow: () => Promise<string | undefined>,
): Promise<number> {
  const refused = ctx.actor!.deployKey
    ? 'A deploy key has no recovery codes.'
    : ((await termsViolation(ctx)) ??
      ((await isTwoFactorEnabled(ctx)) ? undefined : 'Two-factor authentication is not enabled for this user'))
  if (refused !== undefined) {
    sendMessage(call, refused)
    return 1
  }
  await send(call, question)
  if ((await answerOf(call)) === 'yes') {
    const lost = await refusedNow()
    if (lost !== undefined) {
      sendMessage(call, lost)
      return 1
    }
    const codes = await recoverCodes(ctx)
    await send(call, `\nYour recovery codes are:\n\n${codes.join('\n')}\n\n${advice}\n`)
  } else await send(call, '\nNo new recovery codes were generated. Existing codes remain valid.\n')
  return 0
}

const maxAnswerLength = 64

/** The line that the user types; empty if they disconnect or take too long. */
async function answerOf({ channel, signal, stalledMs }: Call): Promise<string> {
  const ended = AbortSignal.any([signal, AbortSignal.timeout(stalledMs)])
  let typed = ''
  try {
    for await (const [chunk] of on(channel, 'data', { signal: ended, close: ['end', 'close'] })) {
      typed += String(chunk)
      if (typed.includes('\n') || typed.length > maxAnswerLength) break
    }
  } catch {
    return ''
  }
  return typed.split('\n', 1)[0]!.trim().toLowerCase()
}
