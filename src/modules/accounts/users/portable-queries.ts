import type { Db } from '../../../db/db.ts'
import { integer, nullable, type RowOf, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

/** A person as archives name them. */
export const portablePersonRow = { username: text, name: text, email: nullable(text) }
export type PortablePerson = RowOf<typeof portablePersonRow>

/** The given users by name, in the order of the user names. With `withAddresses` also the address of each, else the public one. */
export const portablePeople = (
  db: Db,
  usernames: readonly string[],
  { withAddresses }: { readonly withAddresses: boolean },
): Promise<PortablePerson[]> =>
  db.rows(
    portablePersonRow,
    sql`
      select u.username, u.name,
        case
          when u.kind <> 'human' then null
          when ${withAddresses} then u.email
          else nullif(u.public_email, '')
        end as email
      from users u
      where u.username = any(${usernames}::text[])
      order by u.username collate "C"
    `,
  )

/**
 * Users of this installation with these addresses or user names. An address decides, unless it is a further one that its user has not
 * confirmed: it may belong to anyone.
 */
export const matchPeople = (
  db: Db,
  people: readonly { readonly username: string; readonly email: string | null }[],
): Promise<{ username: string; id: number }[]> =>
  db.rows(
    { username: text, id: integer },
    sql`
      select p.username, u.id
      from unnest(
          ${people.map(({ username }) => username)}::text[],
          ${people.map(({ email }) => email?.toLowerCase() ?? '')}::text[]
        ) as p (username, email)
        cross join lateral (
          select f.id
          from (
              select a.user_id as id, 1 as rank
              from email_addresses a left join emails e on e.id = a.email_id
              where a.address = p.email and (a.email_id is null or e.confirmed_at is not null)
              union all
              select n.id, 2
              from users n
              where lower(n.username) = lower(p.username)
            ) f
            join users k on k.id = f.id and k.kind in ('human', 'ghost')
          order by f.rank
          limit 1
        ) u
    `,
  )
