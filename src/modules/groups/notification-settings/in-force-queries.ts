import { empty, literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { levelNumber, type NotificationLevel } from './levels.ts'

/**
 * SQL about the notification settings of a user `u` at a place: a project `p` in the namespace `n`, or the group that is `n`.
 */

/** A level as the database has it. */
export const notificationLevel = (name: NotificationLevel): Sql => literal(levelNumber(name))

/** The settings `s` are of a group at or above the namespace. */
export const ofGroups = raw('s.namespace_id = any(n.traversal_ids)')

/** The settings `s` are of the project, or of a group above it. */
export const ofProject = raw('s.project_id = p.id or s.namespace_id = any(n.traversal_ids)')

/** Joins `w`, the settings of the project, else of the nearest group around the place, else the global ones. `ofPlace` is one of the above. */
export const settingsInForce = (ofPlace: Sql): Sql => sql`
  left join lateral (
    select s.level, s.events
    from notification_settings s
    where s.user_id = u.id
      and (
        (s.level <> ${notificationLevel('global')} and (${ofPlace}))
        or (s.project_id is null and s.namespace_id is null)
      )
    order by s.project_id is null, array_position(n.traversal_ids, s.namespace_id) desc nulls last
    limit 1
  ) w on true
`

/** The level of `settingsInForce`. */
export const levelInForce = sql`coalesce(w.level, ${notificationLevel('participating')})`

/** No group around the place disabled mails. */
export const mailsEnabled = raw(
  'not exists (select from namespaces a where a.id = any(n.traversal_ids) and a.emails_disabled)',
)

const watches = sql`s.level in (${notificationLevel('watch')}, ${notificationLevel('custom')})`

const inGeneral = raw('s.project_id is null and s.namespace_id is null')

/** Users, as `user_id`, who watch the place or select events there: by its settings, or by their global ones as members. */
export const watchers = (of: 'project' | 'group'): Sql => {
  const ofMembers = sql`
    union all
    select s.user_id
    from notification_settings s
      join project_access a on a.user_id = s.user_id and a.project_id = p.id and a.expires_on > current_date
    where ${watches} and ${inGeneral}
  `
  return sql`
    select s.user_id
    from notification_settings s
    where ${watches} and (${of === 'project' ? ofProject : ofGroups})
    union all
    select s.user_id
    from notification_settings s
      join group_access a on a.user_id = s.user_id and a.group_id = n.id and a.expires_on > current_date
    where ${watches} and ${inGeneral} ${of === 'project' ? ofMembers : empty}
  `
}
