import { hash, randomBytes } from 'node:crypto'
import type { Ctx } from '../../../api/ctx.ts'
import { type Authentication, accountRefusal, actorOf } from '../tokens/authenticate.ts'
import { deleteSession, findSession, insertSession, touchSession } from './queries.ts'

const digestOf = (secret: string): Buffer => hash('sha256', secret, 'buffer')

/** Creates a session of a user who has signed in. Returns the secret for its cookie; only the digest is stored. */
export async function openSession(
  ctx: Ctx,
  userId: number,
  { userAgent }: { userAgent?: string | undefined } = {},
): Promise<string> {
  const secret = randomBytes(32).toString('base64url')
  await ctx.transaction((tx) =>
    insertSession(tx, {
      userId,
      digest: digestOf(secret),
      address: ctx.remoteAddress,
      userAgent: userAgent?.slice(0, 255),
    }),
  )
  return secret
}

/**
 * Authenticates a session against the current state of its account. It lasts while it is used within
 * `session_expire_delay` minutes; a trigger deletes it when the password changes or the account becomes inactive. At
 * most one write a minute.
 */
export async function authenticateSession(ctx: Ctx, secret: string): Promise<Authentication> {
  const row = await findSession(ctx.db, digestOf(secret), ctx.settings.session_expire_delay)
  if (!row) return { refused: 'unknown' }
  const refused = accountRefusal(row)
  if (refused) return { refused }
  if (!row.fresh) await touchSession(ctx.db, row.session_id)
  return { actor: actorOf(row) }
}

/** Signs out. No effect if the session has ended. */
export const closeSession = async (ctx: Ctx, secret: string): Promise<void> =>
  void (await deleteSession(ctx.db, digestOf(secret)))
