import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import { accountColumns, type CredentialRow, credentialRow } from '../tokens/queries.ts'

/** When and from where somebody signed in; what was the last time is the time before. */
export const noteSignIn = (db: Db, userId: number, address: string | undefined): Promise<number> =>
  db.run(sql`update users set last_sign_in_at = coalesce(current_sign_in_at, now()), last_sign_in_ip = coalesce(current_sign_in_ip, ${address ?? null}),
    current_sign_in_at = now(), current_sign_in_ip = ${address ?? null} where id = ${userId}`)

export const insertSession = async (
  tx: Tx,
  session: { userId: number; digest: Buffer; address: string | undefined; userAgent: string | undefined },
): Promise<number> =>
  (await tx.row(
    { id: integer },
    sql`insert into sessions (user_id, digest, address, user_agent)
    values (${session.userId}, ${session.digest}, ${session.address ?? null}, ${session.userAgent ?? null}) returning id`,
  ))!.id

/** A session within its idle timeout (minutes), with the current state of its account. */
export const findSession = (
  db: Db,
  digest: Buffer,
  minutes: number,
): Promise<(CredentialRow & { session_id: number; fresh: boolean }) | undefined> =>
  db.row(
    { ...credentialRow, ...{ session_id: integer, fresh: boolean } },
    sql`select ${accountColumns}, s.id as session_id, s.last_seen_at > now() - interval '1 minute' as fresh
    from sessions s join users u on u.id = s.user_id
    where s.digest = ${digest} and s.last_seen_at > now() - make_interval(mins => ${minutes}::integer)`,
  )

export const touchSession = (db: Db, id: number): Promise<number> =>
  db.run(sql`update sessions set last_seen_at = now() where id = ${id}`)

export const deleteSession = (db: Db, digest: Buffer): Promise<number> =>
  db.run(sql`delete from sessions where digest = ${digest}`)

export const deleteEndedSessions = (db: Db, minutes: number): Promise<number> =>
  db.run(sql`delete from sessions where last_seen_at <= now() - make_interval(mins => ${minutes}::integer)`)
