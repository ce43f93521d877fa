import { raw, type Sql, sql } from '../../../db/sql.ts'

/** The notification level `global`: the general setting of the user applies. The default of a membership. */
export const asInGeneral = raw('3')

/**
 * Inserts memberships; returns a row for each, by default an empty one: `result` selects from `added`. `rows` selects namespace_id, project_id, user_id, access_level, expires_at and
 * created_by_id. A new member has the notification level that the user has set for the project or group, and no longer requests access.
 * The access lock is held, or the project or group is new: otherwise a concurrent request or level could be missed.
 */
export const insertMembers = (rows: Sql, onConflict: Sql, result = raw('select from added')): Sql => sql`
  with wanted as (${rows}),
  added as (
    insert into members as m (
      namespace_id, project_id, user_id, access_level, expires_at, created_by_id, notification_level
    )
    select w.namespace_id, w.project_id, w.user_id, w.access_level, w.expires_at, w.created_by_id,
      coalesce(
        (
          select s.level
          from notification_settings s
          where s.user_id = w.user_id and (s.namespace_id = w.namespace_id or s.project_id = w.project_id)
        ),
        ${asInGeneral}
      )
    from wanted w
    on conflict ${onConflict}
    returning m.namespace_id, m.project_id, m.user_id
  ),
  ended as (
    delete from access_requests r using added a
    where r.user_id = a.user_id and (r.namespace_id = a.namespace_id or r.project_id = a.project_id)
  ) ${result}
`
