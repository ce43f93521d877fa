import { levels } from '../../../access/levels.ts'
import type { Db } from '../../../db/db.ts'
import { boolean, integer, json, notNull, nullable, oneOf, type RowOf, text } from '../../../db/row.ts'
import { join, literal, raw, type Sql, sql } from '../../../db/sql.ts'
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
  select a.user_id, a.level from group_access a where a.group_id = n.id and a.expires_on > current_date
  union all select a.user_id, a.level from project_access a where a.project_id = p.id and a.expires_on > current_date
`

const around = raw('projects p join namespaces n on n.id = p.namespace_id')

/** Whether mails about the project `p` may be sent to `u`. */
const reached = sql`u.kind = 'human' and u.state = 'active' and not p.deleting and ${mailsEnabled}`

/** The user did not turn off mails. */
const isEnabled = sql`${levelInForce} <> ${notificationLevel('disabled')}`

export const mailedProjectRow = {
  ...recipientRow,
  full_path: text,
  full_name: text,
}
/** A recipient, and the project as mails name it. */
export type MailedProject = RowOf<typeof mailedProjectRow>

const recipients = (db: Db, projectId: number, among: Sql, where: readonly Sql[]): Promise<MailedProject[]> =>
  db.rows(
    mailedProjectRow,
    sql`
      select u.id, u.name, u.username, ${mailAddress} as address, p.full_path,
        n.full_name || ' / ' || p.name as full_name
      from ${around}
        cross join lateral (select distinct user_id from (${among}) each) perhaps
        join users u on u.id = perhaps.user_id ${settingsInForce(ofProject)}
      where p.id = ${projectId} and ${reached} and ${join(where, ' and ')}
      order by u.id
    `,
  )

/** Users who want a mail about a new release, except for its author: of those who may read the code, since it names a tag. */
export const recipientsOfRelease = (db: Db, projectId: number, actorId: number | null): Promise<MailedProject[]> =>
  recipients(db, projectId, watchers('project'), [
    wants('new_release'),
    readersOf('Commit'),
    sql`u.id is distinct from ${actorId}::bigint`,
  ])

/** Members of a project that moved who want a mail about that, except for the user who moved it. */
export const recipientsOfMove = (db: Db, projectId: number, actorId: number | null): Promise<MailedProject[]> =>
  recipients(db, projectId, members, [wants('moved_project'), sql`u.id is distinct from ${actorId}::bigint`])

/** The user of a pipeline, if they want a mail about it. */
export const recipientOfPipeline = async (
  db: Db,
  projectId: number,
  event: ProjectEvent,
  userId: number,
): Promise<MailedProject | undefined> =>
  (await recipients(db, projectId, sql`select ${userId}::bigint as user_id`, [wants(event)]))[0]

/** Maximum recipients of a mail to those who manage a project. */
const mostManagers = 10

/** Users who manage a project, and did not turn off its mails: the latest active ones. */
export const managersOf = (db: Db, projectId: number): Promise<MailedProject[]> => {
  const managers = sql`
    select u.id as user_id
    from (${members}) m join users u on u.id = m.user_id
    where m.level >= ${literal(levels.maintainer)}
    order by u.last_activity_on desc nulls last, u.id
    limit ${literal(mostManagers)}
  `
  return recipients(db, projectId, sql`(${managers})`, [isEnabled])
}

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
      where p.id = ${projectId} and ${reached} and ${isEnabled} and ${mailAddress} = ${address}
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

export const stoppedMirrorRow = { shown_url: text, last_error: nullable(text), failures: integer }
export type StoppedMirror = RowOf<typeof stoppedMirrorRow>

/** A push mirror, or the pull mirror (`null`) of a project, whose last update failed. */
export const findStoppedMirror = (
  db: Db,
  projectId: number,
  pushMirrorId: number | null,
): Promise<StoppedMirror | undefined> => {
  const [table, isMirror] =
    pushMirrorId === null ? [raw('pull_mirrors'), raw('true')] : [raw('push_mirrors'), sql`m.id = ${pushMirrorId}`]
  return db.row(
    stoppedMirrorRow,
    sql`
      select m.shown_url, m.last_error, m.failures
      from ${table} m
      where m.project_id = ${projectId} and ${isMirror} and m.last_error is not null
    `,
  )
}
