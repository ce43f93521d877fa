import type { Tx } from '../../src/db/db.ts'
import { sql } from '../../src/db/sql.ts'
import { digestOf } from '../../src/kernel/token-secret.ts'
import type { World } from '../world.ts'
import { change, find, remove, type Value } from './statements.ts'

/** Digests of the user's access tokens of a kind. */
export const tokenDigests = (world: World, user_id: number, kind: string) =>
  find(world, 'access_tokens', { user_id, kind }, ['digest', 'refresh_digest'])

/** Ids of the user's tokens of a kind that are neither revoked nor ended. */
export const validTokens = (world: World, userId: number, kind: string) =>
  world.rows(
    `select id from access_tokens
      where user_id = $1 and kind = $2 and not revoked and (ends_at is null or ends_at > now())`,
    [userId, kind],
  )

export const changeToken = (
  world: World,
  id: number,
  values: { readonly [column in 'created_at' | 'last_used_at']?: Value },
) => change(world, 'access_tokens', { id }, values)

/** Changes when OAuth tokens of the user end that are not revoked. */
export const endOauthTokens = (world: World, user_id: number, ends_at: Value) =>
  change(world, 'access_tokens', { user_id, kind: 'oauth', revoked: false }, { ends_at })

/** Moves the access tokens of a user to another one. */
export const moveTokens = (world: World, user_id: number, to: number) =>
  change(world, 'access_tokens', { user_id }, { user_id: to })

export const expireTokens = (world: World, user_id: number, expires_at: Value) =>
  change(world, 'access_tokens', { user_id }, { expires_at })

export const revokeTokens = (world: World, user_id: number) =>
  change(world, 'access_tokens', { user_id }, { revoked: true })

export const revokeToken = (world: World, token: string) =>
  world.rows('update access_tokens set revoked = true where digest = sha256($1::bytea)', [token])

export const removeTokenLimits = (world: World, project_id: number) =>
  remove(world, 'access_token_limits', { project_id })

/** The user remains, without the project or group whose bot it was. */
export const deleteResourceBot = (world: World, user_id: number) => remove(world, 'resource_bots', { user_id })

export const deployTokenRow = (world: World, id: number) => find(world, 'deploy_tokens', { id })

/** Makes the processes forget the users that they cached. */
export const notifyOfUsers = (world: World) => world.rows(`select pg_notify('stithy', 'actors')`)

/** Locks the row of a token until the transaction ends; `secret` is its access or refresh token. */
export const lockToken = (tx: Tx, secret: string) => {
  const digest = digestOf(secret)
  return tx.run(sql`select id from access_tokens where ${digest} in (digest, refresh_digest) for update`)
}
