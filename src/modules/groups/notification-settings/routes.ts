import { endpoint } from '../../../api/endpoint.ts'
import { Flag, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'
import { instance } from '../../instance/index.ts'
import { instanceHolder } from '../holders/holder.ts'
import { ofProjectsAndGroups } from '../holders/project-or-group.ts'
import { GlobalNotificationSetting, NotificationSetting } from './entity.ts'
import { aboutEvent, eventNames, type NotificationEvent, notificationLevels } from './levels.ts'
import { changeSetting, getGlobalSetting, getSetting } from './service.ts'

const flagOf = (event: NotificationEvent) => Optional(Flag({ description: aboutEvent(event) }))
const events = Object.fromEntries(eventNames.map((name) => [name, flagOf(name)])) as Record<
  NotificationEvent,
  ReturnType<typeof flagOf>
>
const globalLevels = ['disabled', 'participating', 'watch', 'mention', 'custom'] as const

const heldSettingRoutes = ofProjectsAndGroups(({ of, base, subject, holderOf }) => {
  const path = `${base}/notification_settings` as const
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `Get ${of} notification settings`,
      subject,
      allow: 'set_notifications',
      returns: NotificationSetting,
      handle: ({ subject: held, ctx }) => getSetting(ctx, holderOf(held)),
    }),

    endpoint({
      method: 'PUT',
      path,
      summary: `Update ${of} notification settings`,
      subject,
      allow: 'set_notifications',
      params: Params({
        level: Optional(
          OneOf(notificationLevels, { description: 'Notification level; global uses the global setting' }),
        ),
        ...events,
      }),
      returns: NotificationSetting,
      handle: ({ subject: held, params: { level, ...rest }, ctx }) =>
        changeSetting(ctx, holderOf(held), { ...(level !== undefined && { level }), ...chosenAmong(rest) }),
    }),
  ]
})

const chosenAmong = (params: { readonly [E in NotificationEvent]?: boolean }) =>
  Object.fromEntries(eventNames.flatMap((name) => (params[name] === undefined ? [] : [[name, params[name]]])))

export const notificationSettingRoutes = [
  endpoint({
    method: 'GET',
    path: '/notification_settings',
    summary: 'Get global notification settings',
    subject: instance,
    allow: 'use',
    returns: GlobalNotificationSetting,
    handle: ({ ctx }) => getGlobalSetting(ctx),
  }),

  endpoint({
    method: 'PUT',
    path: '/notification_settings',
    summary: 'Update global notification settings',
    subject: instance,
    allow: 'use',
    params: Params({
      level: Optional(
        OneOf(globalLevels, { description: 'Notification level of all projects and groups without one of their own' }),
      ),
      notification_email: Optional(
        Text({ description: 'Email address for notifications; must be an address of the caller' }),
      ),
      ...events,
    }),
    returns: GlobalNotificationSetting,
    async handle({ params: { level, notification_email, ...rest }, ctx }) {
      await changeSetting(ctx, instanceHolder, {
        ...(level !== undefined && { level }),
        ...(notification_email !== undefined && { notification_email }),
        ...chosenAmong(rest),
      })
      return getGlobalSetting(ctx)
    },
  }),

  ...heldSettingRoutes,
]
