import type { Db } from '../../../db/db.ts'
import { integer, json, type RowOf, text } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import type { DateOnly } from '../../../db/types.ts'
import type { TokenKind } from './queries.ts'

/** A token that expires soon. */
export type EndingToken = { readonly id: number; readonly name: string; readonly expires_at: DateOnly }

/** Under which a mail about the end of a token is remembered; SQL and text. A token with another date has another one. */
export const endingCause = ({ id, expires_at }: EndingToken): string => `token_ends:${id}:${expires_at}`
const causeOfRow = raw(`'token_ends:' || t.id || ':' || t.expires_at`)

/**
 * The token `t` of a kind expires within a week, its end was not mailed, and it was made for longer: who makes a token for a week, as a
 * rotation does, knows.
 */
export const endsSoon = (kind: TokenKind): Sql => sql`
  t.kind = ${kind}
  and not t.revoked
  and t.expires_at > current_date
  and t.expires_at <= current_date + 7
  and t.created_at < t.expires_at - interval '8 days'
  and not exists (select from mailed_causes c where c.cause = ${causeOfRow})
`

/** Tokens that expire soon, as a list in their order. */
export const endingTokens = raw(
  `json_agg(json_build_object('id', t.id, 'name', t.name, 'expires_at', t.expires_at) order by t.expires_at, t.id)`,
)

const ownerRow = { id: integer, name: text, username: text, email: text, tokens: json<EndingToken[]>() }
export type TokenOwner = RowOf<typeof ownerRow>

/** At most `size` users whose personal tokens end soon, with these. */
export const ownersOfEndingTokens = (db: Db, size: number): Promise<TokenOwner[]> =>
  db.rows(
    ownerRow,
    sql`
      select u.id, u.name, u.username, u.email, ${endingTokens} as tokens
      from access_tokens t
        join users u on u.id = t.user_id and u.kind = 'human' and u.state = 'active' and u.confirmed_at is not null
      where ${endsSoon('personal')}
      group by u.id
      order by u.id
      limit ${size}
    `,
  )
