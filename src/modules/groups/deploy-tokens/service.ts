import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'
import { invalidFields, rowNotFound } from '../../../kernel/failure.ts'
import { digestOf, newSecret } from '../../../kernel/token-secret.ts'
import { blank, requiredTextViolations, tooLong, violationsOf } from '../../../kernel/violations.ts'
import { type Holder, placeOf } from '../holders/holder.ts'
import { type DeployTokenRow, insertDeployToken, revokeDeployToken } from './queries.ts'
import type { DeployTokenScope } from './scopes.ts'

const maxLength = 255

/**
 * Creates a deploy token. Its secret is returned once: only the digest is stored. Without a user name it gets one from
 * its id.
 */
export async function createDeployToken(
  ctx: Ctx,
  holder: Holder,
  token: { name: string; username: string | null; scopes: readonly DeployTokenScope[]; expiresAt: Date | null },
): Promise<DeployTokenRow & { token: string }> {
  const { name, username } = token
  const violations = violationsOf({
    name: requiredTextViolations(name, maxLength),
    username:
      username === null
        ? []
        : username.length > maxLength
          ? [tooLong(maxLength)]
          : /^[A-Za-z0-9.+_-]+$/.test(username)
            ? []
            : ["can contain only letters, digits, '_', '-', '+', and '.'"],
    scopes: token.scopes.length === 0 ? [blank] : [],
  })
  if (violations) throw invalidFields(violations)
  const secret = newSecret()
  return ctx.transaction(async (tx) => {
    const made = await insertDeployToken(tx, holder, {
      ...token,
      scopes: [...new Set(token.scopes)],
      digest: digestOf(secret),
      creatorId: ctx.actor!.id,
    })
    // The insert waits for changes of the holder.
    await tx.requirePermission?.()
    await emit(tx, {
      kind: 'deploy_token_created',
      ...placeOf(holder),
      actorId: ctx.actor!.id,
      payload: { deploy_token_id: made.id },
      facts: { name, username: made.username, scopes: made.scopes, expires_at: made.expires_at },
    })
    return { ...made, token: secret }
  })
}

/** Revokes a deploy token from the next request on. The row stays, marked as revoked. */
export async function endDeployToken(ctx: Ctx, holder: Holder, id: number): Promise<void> {
  await ctx.transaction(async (tx) => {
    const revoked = await revokeDeployToken(tx, holder, id)
    await tx.requirePermission?.()
    if (!revoked) throw rowNotFound()
    await emit(tx, {
      kind: 'deploy_token_revoked',
      ...placeOf(holder),
      actorId: ctx.actor!.id,
      payload: { deploy_token_id: id },
    })
  })
}
