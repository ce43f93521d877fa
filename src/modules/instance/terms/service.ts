import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { forbidden, notFound } from '../../../kernel/failure.ts'
import { insertAgreement, insertTerms, type TermsRow, termsFor } from './queries.ts'

/** Puts new terms in force: users who accepted older terms must accept again. */
export const putInForce = (tx: Tx, text: string): Promise<number> => insertTerms(tx, text)

/**
 * Error message for a user who must accept the terms first; `undefined` if the user accepted them or need not. Deploy
 * keys, deploy tokens and bots of projects and groups need not. One statement while terms are enforced, none otherwise.
 */
export async function termsViolation({ actor, settings, db }: Ctx): Promise<string | undefined> {
  if (!settings.enforce_terms || !actor || actor.bot || actor.deployKey || actor.deployToken) return undefined
  const terms = await termsFor(db, actor.id)
  if (!terms || terms.accepted_at !== null) return undefined
  return `You (@${actor.username}) must accept the Terms of Service in order to perform this action. Please read them at GET /api/v4/user/terms and accept them by POST /api/v4/user/terms/accept.`
}

/** Throws `forbidden` unless the caller accepted the enforced terms. */
export async function requireTerms(ctx: Ctx): Promise<void> {
  const violation = await termsViolation(ctx)
  if (violation !== undefined) throw forbidden(violation)
}

export async function currentTerms(ctx: Ctx): Promise<TermsRow> {
  const terms = await termsFor(ctx.db, ctx.actor!.id)
  if (!terms) throw notFound('Terms')
  return terms
}

/** `id` is the version that the user read: newer terms may be in force by now, which is a 404. */
export async function acceptTerms(ctx: Ctx, id: number): Promise<TermsRow> {
  const userId = ctx.actor!.id
  await ctx.transaction(async (tx) => {
    const terms = await termsFor(tx, userId)
    if (terms?.id !== id) throw notFound('Terms')
    if ((await insertAgreement(tx, userId, id)) > 0)
      await emit(tx, { kind: 'terms_accepted', actorId: userId, payload: { user_id: userId, terms_id: id } })
  })
  return currentTerms(ctx)
}
