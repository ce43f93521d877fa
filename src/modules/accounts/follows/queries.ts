import type { Caller } from '../../../access/actor.ts'
import type { List } from '../../../api/list.ts'
import type { Tx } from '../../../db/db.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { openTo, userReferenceColumns } from '../users/queries.ts'

/** False if the user follows them already. */
export const insertFollow = async (tx: Tx, followerId: number, followedId: number): Promise<boolean> =>
  (await tx.run(sql`
    insert into user_follows (follower_id, followed_id) values (${followerId}, ${followedId}) on conflict do nothing
  `)) > 0

/** False if the user does not follow them. */
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

/** Followers of a user. Users with private profiles are visible to themselves and administrators only. */
export const followersOf = (caller: Caller, userId: number): List =>
  people(caller, raw('from user_follows f join users u on u.id = f.follower_id'), sql`f.followed_id = ${userId}`)

/** Users whom a user follows; private profiles are hidden as in `followersOf`. */
export const followedBy = (caller: Caller, userId: number): List =>
  people(caller, raw('from user_follows f join users u on u.id = f.followed_id'), sql`f.follower_id = ${userId}`)
