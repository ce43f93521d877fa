import type { Caller } from '../../../access/actor.ts'
import type { List } from '../../../api/page.ts'
import type { Tx } from '../../../db/db.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { openTo, userReferenceColumns } from '../users/queries.ts'

/** False when he followed already. */
export const insertFollow = async (tx: Tx, followerId: number, followedId: number): Promise<boolean> =>
  (await tx.run(sql`
    insert into user_follows (follower_id, followed_id) values (${followerId}, ${followedId}) on conflict do nothing`)) >
  0

/** False when he did not follow. */
export const deleteFollow = async (tx: Tx, followerId: number, followedId: number): Promise<boolean> =>
  (await tx.run(sql`delete from user_follows where follower_id = ${followerId} and followed_id = ${followedId}`)) > 0

const people = (caller: Caller, from: Sql, whose: Sql): List => ({
  type: 'User',
  select: sql`select ${userReferenceColumns} ${from}`,
  from,
  where: [whose, openTo(caller)],
  order: [{ by: raw('u.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

/** Who follows somebody. People with private profiles show to themselves and administrators. */
export const followersOf = (caller: Caller, userId: number): List =>
  people(caller, raw('from user_follows f join users u on u.id = f.follower_id'), sql`f.followed_id = ${userId}`)

/** Whom somebody follows, with the same exception. */
export const followedBy = (caller: Caller, userId: number): List =>
  people(caller, raw('from user_follows f join users u on u.id = f.followed_id'), sql`f.follower_id = ${userId}`)
