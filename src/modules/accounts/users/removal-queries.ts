import type { Tx } from '../../../db/db.ts'
import { integer } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

export const blockAccounts = (tx: Tx, ids: readonly number[]): Promise<number> =>
  tx.run(sql`update users set state = 'blocked', updated_at = now() where id = any(${ids}::bigint[])`)

export const deleteAccount = (tx: Tx, id: number): Promise<number> => tx.run(sql`delete from users where id = ${id}`)

export const makePlaceholder = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`update users set kind = 'ghost' where id = ${id}`)

/** An account that only its tokens act for: without a password, and external, so that it sees no more than it is member of. */
export const insertBot = async (tx: Tx, bot: { username: string; name: string; email: string }): Promise<number> =>
  (await tx.row(
    { id: integer },
    sql`
      insert into users (kind, username, name, email, external, can_create_group, projects_limit, confirmed_at)
      values ('bot', ${bot.username}, ${bot.name}, ${bot.email}, true, false, 0, now())
      returning id
    `,
  ))!.id

/** Deletes everything with which these users sign in or are reached by a link. */
export async function deleteCredentials(tx: Tx, userIds: readonly number[]): Promise<void> {
  const theirs = sql`user_id = any(${userIds}::bigint[])`
  await tx.run(sql`delete from access_tokens where ${theirs}`)
  await tx.run(sql`delete from ssh_keys where ${theirs}`)
  await tx.run(sql`delete from gpg_keys where ${theirs}`)
  await tx.run(sql`delete from mail_links where ${theirs}`)
}
