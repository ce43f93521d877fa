import type { List } from '../../../api/page.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import type { Timestamp } from '../../../db/types.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'

/** What is awarded: a merge request, or a note of it. */
export type Awardable = { readonly mergeRequestId: number; readonly noteId: number | null }

export type AwardRow = {
  readonly id: number
  readonly merge_request_id: number
  readonly note_id: number | null
  readonly name: string
  readonly user: UserReferenceRow
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
}

const columns = sql`a.id, a.merge_request_id, a.note_id, a.name, ${userReferenceJson('u')} as user, a.created_at, a.updated_at`

const of = ({ mergeRequestId, noteId }: Awardable): Sql =>
  sql`a.merge_request_id = ${mergeRequestId} and a.note_id is not distinct from ${noteId}`

/** The oldest first. */
export const awardsOf = (awardable: Awardable): List => ({
  type: 'AwardEmoji',
  select: sql`select ${columns} from award_emoji a join users u on u.id = a.user_id`,
  from: raw('from award_emoji a'),
  where: [of(awardable)],
  order: [{ by: raw('a.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

export const findAward = (db: Db, awardable: Awardable, id: number): Promise<AwardRow | undefined> =>
  db.row<AwardRow>(sql`select ${columns} from award_emoji a join users u on u.id = a.user_id
    where ${of(awardable)} and a.id = ${id}`)

/** Nothing when he gave it before, or when what he gives it is gone. */
export const insertAward = (
  tx: Tx,
  { mergeRequestId, noteId }: Awardable,
  userId: number,
  name: string,
): Promise<AwardRow | undefined> =>
  tx.row<AwardRow>(sql`
    with a as (
      insert into award_emoji (merge_request_id, note_id, user_id, name)
      select m.id, n.id, ${userId}, ${name} from merge_requests m left join notes n on n.id = ${noteId} and n.merge_request_id = m.id
      where m.id = ${mergeRequestId} and n.id is not distinct from ${noteId}
      on conflict do nothing returning *)
    select ${columns} from a join users u on u.id = a.user_id`)

/** False when it has gone. */
export const deleteAward = async (tx: Tx, id: number): Promise<boolean> =>
  (await tx.run(sql`delete from award_emoji where id = ${id}`)) > 0
