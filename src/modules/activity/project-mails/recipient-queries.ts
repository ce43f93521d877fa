import type { Db } from '../../../db/db.ts'
import { boolean, integer, json, notNull, nullable, oneOf, type RowOf, text } from '../../../db/row.ts'
import { join, raw, type Sql, sql } from '../../../db/sql.ts'
import { readersOf } from '../../discussion/index.ts'
import {
  levelInForce,
  mailAddress,
  mailsEnabled,
  type NotificationEvent,
  notificationEvents,
  notificationLevel,
  ofProject,
  recipientRow,
  settingsInForce,
  unwatchedEvents,
  watchers,
} from '../../groups/index.ts'
import type { Author } from '../../instance/index.ts'

/** Users who want a mail about an event of a project. */
export type ProjectEvent = Extract<
  NotificationEvent,
  'new_release' | 'moved_project' | 'failed_pipeline' | 'fixed_pipeline' | 'success_pipeline'
>

const flag = (value: boolean): Sql => raw(String(value))

/**
 * Whether `u` wants a mail about an event of the project `p`: with the level `custom` if they selected it, with `watch` unless it is too frequent, and
 * with others if the event is mailed by default.
 */
const wants = (event: ProjectEvent): Sql => sql`
  case
    when ${levelInForce} in (${notificationLevel('disabled')}, ${notificationLevel('mention')}) then false
    when ${levelInForce} = ${notificationLevel('watch')} then ${flag(!unwatchedEvents.includes(event))}
    when ${levelInForce} = ${notificationLevel('custom')} then coalesce(
      (w.events ->> ${event})::boolean, ${flag(notificationEvents[event])}
    )
    else ${flag(notificationEvents[event])}
  end
`

const members = sql`
  select a.user_id from group_access a where a.group_id = n.id and a.expires_on > current_date
  union all select a.user_id from project_access a where a.project_id = p.id and a.expires_on > current_date
`

const around = raw('projects p join namespaces n on n.id = p.namespace_id')

/** Whether mails about the project `p` may be sent to `u`. */
const reached = sql`u.kind = 'human' and u.state = 'active' and not p.deleting and ${mailsEnabled}`

export const mailedProjectRow = {
  ...recipientRow,
  full_path: text,
  full_name: text,
}
/** A recipient, and the project as mails name it. */
export type MailedProject = RowOf<typeof mailedProjectRow>

const recipients = (db: Db, projectId: number, event: ProjectEvent, among: Sql, where: readonly Sql[]) =>
  db.rows(
    mailedProjectRow,
    sql`
      select u.id, u.name, u.username, ${mailAddress} as address, p.full_path,
        n.full_name || ' / ' || p.name as full_name
      from ${around}
        cross join lateral (select distinct user_id from (${among}) each) perhaps
        join users u on u.id = perhaps.user_id ${settingsInForce(ofProject)}
      where p.id = ${projectId} and ${reached} and ${wants(event)} and ${join(where, ' and ')}
      order by u.id
    `,
  )

/** Users who want a mail about a new release, except for its author: of those who may read the code, since it names a tag. */
export const recipientsOfRelease = (db: Db, projectId: number, actorId: number | null): Promise<MailedProject[]> =>
  recipients(db, projectId, 'new_release', watchers('project'), [
    readersOf('Commit'),
    sql`u.id is distinct from ${actorId}::bigint`,
  ])

/** Members of a project that moved who want a mail about that, except for the user who moved it. */
export const recipientsOfMove = (db: Db, projectId: number, actorId: number | null): Promise<MailedProject[]> =>
  recipients(db, projectId, 'moved_project', members, [sql`u.id is distinct from ${actorId}::bigint`])

/** The user of a pipeline, if they want a mail about it. */
export const recipientOfPipeline = async (
  db: Db,
  projectId: number,
  event: ProjectEvent,
  userId: number,
): Promise<MailedProject | undefined> =>
  (await recipients(db, projectId, event, sql`select ${userId}::bigint as user_id`, [raw('true')]))[0]

/** Whether a user still has the address and wants mails about a project at all; each may have waited for days. */
export const isStillWanted = async (
  db: Db,
  { projectId, userId, address }: { readonly projectId: number; readonly userId: number; readonly address: string },
): Promise<boolean> =>
  (await db.row(
    { id: integer },
    sql`
      select u.id
      from ${around} join users u on u.id = ${userId} ${settingsInForce(ofProject)}
      where p.id = ${projectId}
        and ${reached}
        and ${levelInForce} <> ${notificationLevel('disabled')}
        and ${mailAddress} = ${address}
    `,
  )) !== undefined

export const mailedReleaseRow = { tag: text, name: nullable(text), description: text, author: nullable(json<Author>()) }
export type MailedRelease = RowOf<typeof mailedReleaseRow>

/** A release that was not published long ago: what is imported is not news. */
export const findMailedRelease = (db: Db, projectId: number, tag: string): Promise<MailedRelease | undefined> =>
  db.row(
    mailedReleaseRow,
    sql`
      select r.tag, r.name, r.description,
        (
          select json_build_object('name', u.name, 'username', u.username) from users u where u.id = r.author_id
        ) as author
      from releases r
      where r.project_id = ${projectId} and r.tag = ${tag} and r.released_at > now() - interval '1 day'
    `,
  )

export const findAuthor = (db: Db, userId: number): Promise<Author | undefined> =>
  db.row({ name: text, username: text }, sql`select name, username from users where id = ${userId}`)

export const mailedPipelineRow = {
  id: integer,
  project_id: integer,
  ref: text,
  sha: text,
  status: oneOf('success', 'failed'),
  user_id: notNull(integer),
  /** Whether the one before it of the same branch or tag failed. */
  after_failure: boolean,
}
export type MailedPipeline = RowOf<typeof mailedPipelineRow>

/** A pipeline of a user, if it has succeeded or failed by now. */
export const findMailedPipeline = (db: Db, id: number): Promise<MailedPipeline | undefined> =>
  db.row(
    mailedPipelineRow,
    sql`
      select l.id, l.project_id, l.ref, l.sha, l.status, l.user_id,
        coalesce(
          (
            select b.status = 'failed'
            from pipelines b
            where b.project_id = l.project_id
              and b.ref = l.ref
              and b.tag = l.tag
              and b.id < l.id
              and b.status in ('success', 'failed')
            order by b.id desc
            limit 1
          ),
          false
        ) as after_failure
      from pipelines l
      where l.id = ${id} and l.status in ('success', 'failed') and l.user_id is not null
    `,
  )
