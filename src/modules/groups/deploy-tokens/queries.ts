import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, listOf, nullable, oneOf, type RowOf, text, timestamp } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import type { Holder } from '../holders/holder.ts'
import { heldBy, holderIds } from '../holders/queries.ts'
import type { DeployTokenScope } from './scopes.ts'

export const deployTokenRow = {
  id: integer,
  name: text,
  username: text,
  scopes: listOf(
    oneOf<DeployTokenScope>(
      'read_repository',
      'read_registry',
      'write_registry',
      'read_package_registry',
      'write_package_registry',
    ),
  ),
  revoked: boolean,
  expired: boolean,
  expires_at: nullable(timestamp),
}
export type DeployTokenRow = RowOf<typeof deployTokenRow>

const username = raw(`coalesce(t.username, 'gitlab+deploy-token-' || t.id)`)
const expired = raw('coalesce(t.expires_at <= now(), false)')
const columns = sql`t.id, t.name, ${username} as username, t.scopes, t.revoked, ${expired} as expired, t.expires_at`

/**
 * Tokens of a holder; of all holders if `undefined`. `active` selects usable or unusable tokens; by default, all that are
 * not revoked, because for clients a deleted token no longer exists.
 */
export const deployTokensOf = (holder: Holder | undefined, active: boolean | undefined): List => ({
  type: 'DeployToken',
  select: sql`select ${columns} from deploy_tokens t`,
  from: sql`from deploy_tokens t`,
  where: [
    ...(holder === undefined ? [] : [heldBy('t', holder)]),
    active === undefined ? sql`not t.revoked` : sql`(not t.revoked and not ${expired}) = ${active}`,
  ],
  order: [{ by: raw('t.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
  byClock: active !== undefined,
})

/** `undefined` if it is revoked. */
export const findDeployToken = (db: Db, holder: Holder, id: number): Promise<DeployTokenRow | undefined> =>
  db.row(
    deployTokenRow,
    sql`select ${columns} from deploy_tokens t where t.id = ${id} and not t.revoked and ${heldBy('t', holder)}`,
  )

export type NewDeployToken = {
  name: string
  username: string | null
  digest: Buffer
  scopes: readonly DeployTokenScope[]
  expiresAt: Date | null
  creatorId: number
}

export async function insertDeployToken(tx: Tx, holder: Holder, token: NewDeployToken): Promise<DeployTokenRow> {
  const { projectId, namespaceId } = holderIds(holder)
  return (await tx.row(
    deployTokenRow,
    sql`
      insert into deploy_tokens as t (project_id, namespace_id, creator_id, name, username, digest, scopes, expires_at)
      values (
        ${projectId}, ${namespaceId}, ${token.creatorId}, ${token.name}, ${token.username}, ${token.digest},
        ${token.scopes}, ${token.expiresAt}
      )
      returning ${columns}
    `,
  ))!
}

/** False if there is none, or if it was revoked before. */
export const revokeDeployToken = async (tx: Tx, holder: Holder, id: number): Promise<boolean> =>
  (await tx.run(
    sql`update deploy_tokens t set revoked = true where t.id = ${id} and not t.revoked and ${heldBy('t', holder)}`,
  )) > 0

export const deployTokenCredentialRow = { ...deployTokenRow, creator_id: nullable(integer) }
export type DeployTokenCredentialRow = RowOf<typeof deployTokenCredentialRow>

const credential = sql`select ${columns}, t.creator_id from deploy_tokens t`

/** The token with this digest and user name. */
export const findDeployTokenCredential = (
  db: Db,
  shown: { username: string; digest: Buffer },
): Promise<DeployTokenCredentialRow | undefined> =>
  db.row(
    deployTokenCredentialRow,
    sql`${credential} where t.digest = ${shown.digest} and ${username} = ${shown.username}`,
  )

export const findDeployTokenById = (db: Db, id: number): Promise<DeployTokenCredentialRow | undefined> =>
  db.row(deployTokenCredentialRow, sql`${credential} where t.id = ${id}`)
