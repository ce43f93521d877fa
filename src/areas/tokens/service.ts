import { isScope, type Scope } from '../../access/scopes.ts'
import type { Tx } from '../../db/db.ts'
import type { DateOnly } from '../../db/types.ts'
import { invalidFields } from '../../kernel/failure.ts'
import { insertToken, type TokenRow } from './queries.ts'
import { digestOf, newSecret } from './secret.ts'

/** What a token may not say, by field. */
export function tokenScopes(names: readonly string[], admin: boolean): Scope[] {
  if (names.length === 0) throw invalidFields({ scopes: ["can't be blank"] })
  const known = [...new Set(names)].filter(isScope)
  // Only administrators act for others, so only they are offered `sudo`.
  if (known.length < new Set(names).size || (known.includes('sudo') && !admin))
    throw invalidFields({ scopes: ['can only contain available scopes'] })
  return known
}

/** A token for somebody. `secret` is chosen by an operator; otherwise random. Shown once: only its digest is kept. */
export async function createToken(
  tx: Tx,
  token: { userId: number; name: string; scopes: readonly Scope[]; expiresAt: DateOnly | null; secret?: string },
): Promise<TokenRow & { token: string }> {
  const secret = token.secret ?? newSecret()
  if (token.name.trim() === '') throw invalidFields({ name: ["can't be blank"] })
  return { ...(await insertToken(tx, { ...token, digest: digestOf(secret) })), token: secret }
}
