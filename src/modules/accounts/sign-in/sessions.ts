import { hash, randomBytes } from 'node:crypto'
import type { Ctx } from '../../../api/ctx.ts'
import { type Authentication, accountRefusal, actorOf } from '../tokens/authenticate.ts'
import { deleteSession, findSession, insertSession, touchSession } from './queries.ts'

const digestOf = (secret: string): Buffer => hash('sha256', secret, 'buffer')

/** A session for somebody who has signed in. Returns the secret of its cookie, of which only the digest is kept. */
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
 * Who holds a session, as the account is now. It lasts while it is used within `session_expire_delay`, and no longer than
 * the password or the account: a trigger sees to that. At most one write a minute.
 */
export async function authenticateSession(ctx: Ctx, secret: string): Promise<Authentication> {
  const row = await findSession(ctx.db, digestOf(secret), ctx.settings.session_expire_delay)
  if (!row) return { refused: 'unknown' }
  const refused = accountRefusal(row)
  if (refused) return { refused }
  if (!row.fresh) await touchSession(ctx.db, row.session_id)
  return { actor: actorOf(row) }
}

/** Signs out. No effect when the session has ended. */
export const closeSession = async (ctx: Ctx, secret: string): Promise<void> =>
  void (await deleteSession(ctx.db, digestOf(secret)))
