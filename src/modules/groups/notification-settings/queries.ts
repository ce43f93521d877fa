import type { Db, Tx } from '../../../db/db.ts'
import { integer, json, nullable, type RowOf, text } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import type { Holder } from '../holders/holder.ts'
import { heldBy, holderIds } from '../holders/queries.ts'
import type { NotificationEvent } from './levels.ts'

/** `holder` is a project, a group or, for global settings, the installation. */
export const notificationSettingRow = {
  level: integer,
  events: json<Partial<Record<NotificationEvent, boolean>>>(),
  notification_email: nullable(text),
}
export type NotificationSettingRow = RowOf<typeof notificationSettingRow>

const of = (userId: number, holder: Holder): Sql => sql`s.user_id = ${userId} and ${heldBy('s', holder)}`

/** Null if the address does not belong to the user any more. */
const ownAddress = raw(`(select s.notification_email from email_addresses a
  where a.user_id = s.user_id and a.address = lower(s.notification_email))`)

export const findNotificationSetting = (
  db: Db,
  userId: number,
  holder: Holder,
): Promise<NotificationSettingRow | undefined> =>
  db.row(
    notificationSettingRow,
    sql`
      select s.level, s.events, ${ownAddress} as notification_email
      from notification_settings s
      where ${of(userId, holder)}
    `,
  )

/**
 * Updates the given values; events one by one. `initialLevel` applies if the user has no setting yet. Copies the level to the
 * membership, because records of projects show it; the access lock is held for that, unless `holder` is the installation.
 */
export async function saveNotificationSetting(
  tx: Tx,
  userId: number,
  holder: Holder,
  {
    level,
    events,
    notificationEmail,
    initialLevel,
  }: {
    level: number | undefined
    events: Partial<Record<NotificationEvent, boolean>>
    notificationEmail: string | undefined
    initialLevel: number
  },
): Promise<NotificationSettingRow> {
  const { projectId, namespaceId } = holderIds(holder)
  const chosen = JSON.stringify(events)
  const email = notificationEmail ?? null
  const returning = sql`returning s.level, s.events, s.notification_email`
  const update = () =>
    tx.row(
      notificationSettingRow,
      sql`
        update notification_settings s
        set level = coalesce(${level ?? null}::smallint, s.level), events = s.events || ${chosen}::jsonb,
          notification_email = coalesce(${email}, s.notification_email), updated_at = now()
        where ${of(userId, holder)} ${returning}
      `,
    )
  const insert = () =>
    tx.row(
      notificationSettingRow,
      sql`
        insert into notification_settings as s (user_id, project_id, namespace_id, level, events, notification_email)
        values (${userId}, ${projectId}, ${namespaceId}, ${level ?? initialLevel}, ${chosen}::jsonb, ${email})
        on conflict do nothing ${returning}
      `,
    )
  // If a concurrent request inserted the row first, this updates it.
  const saved = (await update()) ?? (await insert()) ?? (await update())!
  if (holder.of !== 'instance')
    await tx.run(sql`
      update members m
      set notification_level = ${saved.level}
      where m.user_id = ${userId} and ${heldBy('m', holder)} and m.notification_level <> ${saved.level}
    `)
  return saved
}
