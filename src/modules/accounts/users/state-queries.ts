import type { Db, Tx } from '../../../db/db.ts'
import { boolean, oneOf, text } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import type { UserRow } from './queries.ts'

type State = UserRow['state']

/** False if the account was in none of the `from` states. */
export const moveState = async (tx: Tx, userId: number, from: readonly State[], to: State): Promise<boolean> =>
  (await tx.run(
    sql`update users set state = ${to}, updated_at = now() where id = ${userId} and state = any(${from}::text[])`,
  )) > 0

const leaving = raw('exists (select from namespaces n where n.owner_id = u.id and n.deleting)')

/** Whether the account was removed and a job is deleting its data. */
export const isLeaving = (db: Db, userId: number): Promise<boolean> =>
  db.exists(sql`select from users u where u.id = ${userId} and ${leaving}`)

/** Locks the account against concurrent state changes. `leaving`: see `isLeaving`. */
export const lockState = (
  tx: Tx,
  userId: number,
): Promise<{ state: State; kind: string; admin: boolean; leaving: boolean } | undefined> =>
  tx.row(
    {
      state: oneOf<State>('active', 'blocked', 'ldap_blocked', 'deactivated', 'banned'),
      kind: text,
      admin: boolean,
      leaving: boolean,
    },
    sql`select state, kind, admin, ${leaving} as leaving from users u where id = ${userId} for no key update of u`,
  )

/** Whether there is an active administrator. Serialises callers until their transactions end. */
export async function hasAdministrator(tx: Tx): Promise<boolean> {
  await tx.run(sql`select pg_advisory_xact_lock(hashtext('administrators'))`)
  return tx.exists(sql`select 1 from users where admin and kind = 'human' and state = 'active' limit 1`)
}

/** Whether the user was active or signed in within the last `days`. */
export const isRecentlyActive = async (db: Db, userId: number, days: number): Promise<boolean> =>
  (await db.row(
    { recent: boolean },
    sql`
      select coalesce(last_activity_on > current_date - ${days}::integer, false)
        or coalesce(current_sign_in_at > now() - make_interval(days => ${days}::integer), false) as recent
      from users
      where id = ${userId}
    `,
  ))!.recent

/** Updates the day of activity, at most once a day, and not while the account is locked. */
export const touchAccount = (db: Db, userId: number): Promise<number> =>
  db.run(
    sql`
      update users u
      set last_activity_on = current_date
      from (
        select id
        from users
        where id = ${userId} and last_activity_on is distinct from current_date
        for no key update skip locked
      ) inactive
      where u.id = inactive.id
    `,
  )
