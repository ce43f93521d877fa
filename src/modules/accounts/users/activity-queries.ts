import type { List } from '../../../api/page.ts'
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

/** People with their last day of activity, since a day; half a year without. The longest away is first. */
export const activitiesSince = (from: DateOnly | undefined): List => ({
  type: 'UserActivity',
  select: sql`select u.id, u.username, u.last_activity_on from users u`,
  from: raw('from users u'),
  where: [
    // Accounts of tokens are no people.
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

/** Who shows this address to all. */
export const findByPublicEmail = (db: Db, email: string): Promise<UserReferenceRow | undefined> =>
  db.row(
    userReferenceRow,
    sql`
    select ${userReferenceColumns} from email_addresses a join users u on u.id = a.user_id
    where a.address = lower(${email}) and lower(u.public_email) = lower(${email})`,
  )
