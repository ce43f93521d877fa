import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer, json, listOf, nullable, type RowOf } from '../../../db/row.ts'
import { raw, type Sql, sql, unexpired } from '../../../db/sql.ts'
import { type EndingToken, endingTokens, endsSoon, tokenColumns, tokenRow } from '../../accounts/index.ts'
import type { Holder } from '../holders/holder.ts'
import { heldBy, holderIds } from '../holders/queries.ts'
import type { MemberSource } from '../members/queries.ts'

/** A project or group that has tokens. */
export type TokenHolder = Holder & { readonly of: 'project' | 'group' }

/** A token with the role of its bot; null if the membership has ended. */
export const resourceTokenRow = { ...tokenRow, access_level: nullable(integer) }
export type ResourceTokenRow = RowOf<typeof resourceTokenRow>

const from = sql`
  from access_tokens t
    join resource_bots b on b.user_id = t.user_id
    left join members m on m.user_id = b.user_id
      and (m.project_id = b.project_id or m.namespace_id = b.namespace_id) and ${unexpired('m')}
`

const select = sql`select ${tokenColumns}, m.access_level ${from}`

const ofHolder = (holder: TokenHolder): Sql => sql`t.kind = 'resource' and ${heldBy('b', holder)}`

export const resourceTokensOf = (holder: TokenHolder, state: 'active' | 'inactive' | undefined): List => ({
  type: 'ResourceAccessToken',
  select,
  from,
  where: [
    ofHolder(holder),
    ...(state === undefined ? [] : [sql`(not t.revoked and ${unexpired('t')}) = ${state === 'active'}`]),
  ],
  order: [{ by: raw('t.id'), direction: 'asc' }],
})

export const findResourceToken = (db: Db, holder: TokenHolder, id: number): Promise<ResourceTokenRow | undefined> =>
  db.row(resourceTokenRow, sql`${select} where t.id = ${id} and ${ofHolder(holder)}`)

export const assignBot = (tx: Tx, userId: number, holder: TokenHolder): Promise<number> => {
  const { projectId, namespaceId } = holderIds(holder)
  return tx.run(
    sql`insert into resource_bots (user_id, project_id, namespace_id) values (${userId}, ${projectId}, ${namespaceId})`,
  )
}

/** Selects the usable tokens of a user. */
const usableTokensOf = (userId: Sql): Sql =>
  sql`select from access_tokens t where t.user_id = ${userId} and not t.revoked and ${unexpired('t')}`

export const hasUsableToken = (db: Db, userId: number): Promise<boolean> => db.exists(usableTokensOf(sql`${userId}`))

/** Bots whose project or group is gone, or without usable tokens, that are not being removed yet; at most `limit`. */
export const findIdleBots = async (db: Db, limit: number): Promise<number[]> => {
  const rows = await db.rows(
    { id: integer },
    sql`
      select u.id
      from users u left join resource_bots b on b.user_id = u.id
      where u.kind = 'bot'
        and not exists (select from namespaces n where n.owner_id = u.id and n.deleting)
        and (b.user_id is null or not exists (${usableTokensOf(raw('u.id'))}))
      order by u.id
      limit ${limit}
    `,
  )
  return rows.map(({ id }) => id)
}

/** At most `size` projects and groups with tokens of bots that end soon, with these. */
export async function holdersOfEndingTokens(
  db: Db,
  size: number,
): Promise<{ readonly source: MemberSource; readonly tokens: readonly EndingToken[] }[]> {
  const rows = await db.rows(
    {
      project_id: nullable(integer),
      namespace_id: nullable(integer),
      ancestor_ids: listOf(integer),
      tokens: json<EndingToken[]>(),
    },
    sql`
      select b.project_id, b.namespace_id, n.traversal_ids as ancestor_ids, ${endingTokens} as tokens
      from access_tokens t
        join resource_bots b on b.user_id = t.user_id
        left join projects p on p.id = b.project_id
        join namespaces n on n.id = coalesce(b.namespace_id, p.namespace_id)
      where ${endsSoon('resource')}
      group by b.project_id, b.namespace_id, n.id
      order by b.project_id, b.namespace_id
      limit ${size}
    `,
  )
  return rows.map(({ project_id: projectId, namespace_id: groupId, ancestor_ids: ancestorIds, tokens }) => ({
    source:
      projectId === null ? { of: 'group', groupId: groupId!, ancestorIds } : { of: 'project', projectId, ancestorIds },
    tokens,
  }))
}
