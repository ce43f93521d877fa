import { type TBoolean, Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable } from '../../../api/schema.ts'
import { aboutEvent, eventNames, levelName, type NotificationEvent, notificationEvents } from './levels.ts'
import type { NotificationSettingRow } from './queries.ts'

const fields = {
  level: Type.String({
    description: "Notification level; `global` uses the level of the user's global settings",
    enum: ['disabled', 'participating', 'watch', 'global', 'mention', 'custom'],
  }),
  events: Type.Optional(
    Type.Object(
      Object.fromEntries(eventNames.map((name) => [name, Type.Boolean({ description: aboutEvent(name) })])) as Record<
        NotificationEvent,
        TBoolean
      >,
      { description: 'Events that notify; present at level `custom`' },
    ),
  ),
}

const present = ({ level, events }: NotificationSettingRow) => ({
  level: levelName(level),
  ...(levelName(level) === 'custom' && { events: { ...notificationEvents, ...events } }),
})

/** Notification settings of a user for a project or group. */
export const NotificationSetting = entity({ name: 'NotificationSetting', schema: Type.Object(fields), present })

/** Global notification settings of a user. */
export const GlobalNotificationSetting = entity({
  name: 'GlobalNotificationSetting',
  schema: Type.Object({
    ...fields,
    notification_email: nullable(Type.String({ description: 'Email address for notifications' })),
  }),
  present: (row: NotificationSettingRow) => ({ ...present(row), notification_email: row.notification_email }),
})
