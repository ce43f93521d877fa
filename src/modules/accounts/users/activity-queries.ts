import type { List } from '../../../api/list.ts'
import type { Db } from '../../../db/db.ts'
import { date, integer, notNull, type RowOf, text } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import type { DateOnly } from '../../../db/types.ts'
import { type UserReferenceRow, userReferenceColumns, userReferenceRow } from './queries.ts'

export const activityRow = {
  id: integer,
  username: text,
  last_activity_on: notNull(date),
}
export type ActivityRow = RowOf<typeof activityRow>

/** Users with their last day of activity, at or after a day (default: half a year ago), longest inactive first. */
export const activitiesSince = (from: DateOnly | undefined): List => ({
  type: 'UserActivity',
  select: sql`select u.id, u.username, u.last_activity_on from users u`,
  from: raw('from users u'),
  where: [
    // Bots of tokens are not users.
    raw(`u.kind <> 'bot'`),
    from === undefined
      ? raw(`u.last_activity_on >= current_date - interval '6 months'`)
      : sql`u.last_activity_on >= ${from}::date`,
  ],
  order: [
    { by: raw('u.last_activity_on'), direction: 'asc' },
    { by: raw('u.id'), direction: 'asc' },
  ],
})

/** The user whose public address this is. */
export const findByPublicEmail = (db: Db, email: string): Promise<UserReferenceRow | undefined> =>
  db.row(
    userReferenceRow,
    sql`
      select ${userReferenceColumns}
      from email_addresses a join users u on u.id = a.user_id
      where a.address = lower(${email}) and lower(u.public_email) = lower(${email})
    `,
  )
