import type { Ctx } from '../../../api/ctx.ts'
import { invalidFields } from '../../../kernel/failure.ts'
import { ownsEmail } from '../../accounts/index.ts'
import { lockAccess } from '../../namespaces/index.ts'
import { type Holder, instanceHolder } from '../holders/holder.ts'
import { levelNumber, type NotificationEvent, type NotificationLevel } from './levels.ts'
import { findNotificationSetting, type NotificationSettingRow, saveNotificationSetting } from './queries.ts'

/** Level until the user sets one. */
const initialLevel = (holder: Holder): number => levelNumber(holder.of === 'instance' ? 'participating' : 'global')

/** The caller's notification setting for a project or group. */
export const getSetting = async (ctx: Ctx, holder: Holder): Promise<NotificationSettingRow> =>
  (await findNotificationSetting(ctx.db, ctx.actor!.id, holder)) ?? {
    level: initialLevel(holder),
    events: {},
    notification_email: null,
  }

/** The caller's global setting; the address defaults to that of the account. */
export async function getGlobalSetting(ctx: Ctx): Promise<NotificationSettingRow> {
  const setting = await getSetting(ctx, instanceHolder)
  return { ...setting, notification_email: setting.notification_email ?? ctx.actor!.email }
}

export type NotificationInput = {
  level?: NotificationLevel
  notification_email?: string
} & { [E in NotificationEvent]?: boolean }

/** Updates the given values. */
export async function changeSetting(
  ctx: Ctx,
  holder: Holder,
  { level, notification_email, ...events }: NotificationInput,
): Promise<NotificationSettingRow> {
  const userId = ctx.actor!.id
  return ctx.transaction(async (tx) => {
    // Serialised with new members, so that a membership has the level that is set.
    if (holder.of !== 'instance') await lockAccess(tx)
    if (notification_email !== undefined) {
      if (!(await ownsEmail(tx, userId, notification_email)))
        throw invalidFields({ notification_email: ['must be an email you have verified'] })
    }
    return saveNotificationSetting(tx, userId, holder, {
      level: level === undefined ? undefined : levelNumber(level),
      events,
      notificationEmail: notification_email,
      initialLevel: initialLevel(holder),
    })
  })
}
