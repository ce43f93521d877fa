import type { Db } from '../../../db/db.ts'
import { integer, json, notNull, type RowOf, text, textOf } from '../../../db/row.ts'
import { literal, raw, type Sql, sql } from '../../../db/sql.ts'
import {
  levelInForce,
  mailAddress,
  mailsEnabled,
  type NotificationEvent,
  notificationLevel,
  ofGroups,
  ofProject,
  type Recipient,
  recipientRow,
  settingsInForce,
  unwatchedEvents,
  watchers,
} from '../../groups/index.ts'
import type { Author } from '../../instance/index.ts'
import { holderPath, holderRemains, joinHolder } from '../noteables/holder-queries.ts'
import {
  kindOf,
  type NoteableType,
  noteableTypes,
  type PlannedType,
  type TodoType,
  todoTypes,
} from '../noteables/kinds.ts'
import { aboutId, aboutType, columnOf, numberOf, readersOfRow, tableOf } from '../noteables/queries.ts'
import { participants } from './queries.ts'

/** A noteable as mails name it. */
export type MailedNoteable = {
  readonly type: NoteableType
  readonly id: number
  /** Its number, or the object id of a commit. */
  readonly iid: number | string
  readonly title: string
  readonly full_path: string
}

const author = raw(`json_build_object('name', by_whom.name, 'username', by_whom.username)`)

/** The noteable `m` of the project `p` or the group `g`. */
const noteable = (type: NoteableType): Sql =>
  sql`
    json_build_object(
      'type', ${type}::text, 'id', m.id, 'iid', ${numberOf(type, 'm')}, 'title', m.title, 'full_path',
      ${holderPath(type)}
    )
  `

const isOfProject = (type: NoteableType): boolean => kindOf(type).holder.of === 'project'

/** What holds the noteable `m`, and `n`, the namespace of that. */
const around = (type: NoteableType): Sql =>
  sql`${joinHolder(type)} join namespaces n on n.id = ${raw(isOfProject(type) ? 'p.namespace_id' : 'g.id')}`

/** What the note or todo `t` is about: the noteable `m`, with what is around it. */
const place = (type: NoteableType): Sql => sql`join ${tableOf(type)} m on m.id = t.${columnOf(type)} ${around(type)}`

/** The notification settings `s` are of the holder or of a group above it. */
const ofHolder = (type: NoteableType): Sql => (isOfProject(type) ? ofProject : ofGroups)

/** The notification settings `w` of `u` that are in force for the noteable, and their subscription `c`. */
const settings = (type: NoteableType): Sql => sql`
  ${settingsInForce(ofHolder(type))} left join subscriptions c on c.${columnOf(type)} = m.id and c.user_id = u.id
`

/** Whether `u` may read the noteable `m` and has not turned off mails about it. */
const reached = (type: NoteableType): Sql =>
  sql`
    ${holderRemains(type)}
    and ${readersOfRow(type)}
    and coalesce(c.subscribed, true)
    and ${levelInForce} <> ${notificationLevel('disabled')}
    and ${mailsEnabled}
  `

/** A mail about a noteable that waits to be sent: its recipient and their address, and the note that it quotes. */
export type WaitingMail = {
  readonly type: NoteableType
  readonly noteableId: number
  readonly userId: number
  readonly address: string
  readonly noteId: number | null
}

/** Whether the recipient of a waiting mail still has the right to read it, its address, and has not turned off such mails since. */
export const isStillWanted = async (
  db: Db,
  { type, noteableId, userId, address, noteId }: WaitingMail,
): Promise<boolean> =>
  (await db.row(
    { id: integer },
    sql`
      select u.id
      from ${tableOf(type)} m ${around(type)} join users u on u.id = ${userId} ${settings(type)}
      where m.id = ${noteableId}
        and ${reached(type)}
        and ${mailAddress} = ${address}
        and (${noteId}::bigint is null or exists (select from notes o where o.id = ${noteId}))
    `,
  )) !== undefined

export const mailedNoteRow = {
  id: integer,
  body: text,
  author_id: integer,
  author: json<Author>(),
  noteable: json<MailedNoteable>(),
  /** How many notes its author wrote within the last hour, counted up to a limit. */
  lately: integer,
}
export type MailedNote = RowOf<typeof mailedNoteRow>

/** The type of what the note or todo `t` is about. */
const typeOf: Sql = raw(
  `case ${noteableTypes.map((type) => `when t.${kindOf(type).column} is not null then '${type}'`).join(' ')} end`,
)

export async function findMailedNote(db: Db, id: number, limit: number): Promise<MailedNote | undefined> {
  const found = await db.row(
    { type: notNull(textOf<NoteableType>()) },
    sql`select ${typeOf} as type from notes t where t.id = ${id}`,
  )
  return (
    found &&
    db.row(
      mailedNoteRow,
      sql`
        select t.id, t.body, t.author_id, ${author} as author, ${noteable(found.type)} as noteable,
          (
            select count(*)::integer
            from (
              select
              from notes l
              where l.author_id = t.author_id and not l.system and l.created_at > now() - interval '1 hour'
              limit ${literal(limit)}
            ) counted
          ) as lately
        from notes t ${place(found.type)} join users by_whom on by_whom.id = t.author_id
        where t.id = ${id}
      `,
    )
  )
}

/** Users who may want mails about `m`: who participates or subscribed, and who watches the project or group. */
const candidates = (type: NoteableType): Sql => sql`
  select id, bool_or(takes_part) as takes_part
  from (
    select o.user_id as id, true as takes_part from (${participants(type, raw('m.id'), raw('m.author_id'))}) o
    union all select o.user_id, o.subscribed from subscriptions o where o.${columnOf(type)} = m.id
    union all select w.user_id, false from (${watchers(isOfProject(type) ? 'project' : 'group')}) w
  ) each
  group by id
`

/** Users who want a mail about a note, by their settings and subscriptions; not its author. */
export const recipientsOfNote = (
  db: Db,
  { id, author_id, noteable: { type } }: Pick<MailedNote, 'id' | 'author_id' | 'noteable'>,
): Promise<Recipient[]> => {
  const mentioned = sql`exists (select from mentions o where o.note_id = t.id and o.user_id = u.id)`
  return db.rows(
    recipientRow,
    sql`
      select u.id, u.name, u.username, ${mailAddress} as address
      from notes t ${place(type)}
        cross join lateral (${candidates(type)}) as perhaps
        join users u on u.id = perhaps.id ${settings(type)}
      where t.id = ${id}
        and u.id <> ${author_id}
        and ${reached(type)}
        and case ${levelInForce}
          when ${notificationLevel('mention')} then ${mentioned}
          when ${notificationLevel('watch')} then true
          when ${notificationLevel('custom')} then coalesce((w.events ->> 'new_note')::boolean, false)
            or perhaps.takes_part
          else perhaps.takes_part
        end
      order by u.id
    `,
  )
}

export const mailedEventRow = {
  ...recipientRow,
  noteable: json<MailedNoteable>(),
}
export type MailedEvent = RowOf<typeof mailedEventRow>

/**
 * Candidates who want a mail about an event, by the level in force; with the level `custom` they selected it or take part. An event that
 * has no setting cannot be selected.
 */
const wantsEvent = (event: NotificationEvent | undefined): Sql => sql`
  case ${levelInForce}
    when ${notificationLevel('mention')} then false
    when ${notificationLevel('watch')} then ${event && unwatchedEvents.includes(event) ? raw('perhaps.takes_part') : raw('true')}
    when ${notificationLevel('custom')} then coalesce((w.events ->> ${event ?? null}::text)::boolean, false)
      or perhaps.takes_part
    else perhaps.takes_part
  end
`

/** An event whose mails are sought. */
export type SoughtEvent = {
  /** Its notification setting, if it has one. */
  readonly event?: NotificationEvent | undefined
  /** Users who take part in it although the noteable no longer shows that, such as former assignees. */
  readonly also?: readonly number[] | undefined
  /** Users who are not mailed: the actor, and those who get another mail. */
  readonly except?: readonly number[] | undefined
  /** If given, only users who subscribed to one of these labels are sought. */
  readonly labelIds?: readonly number[] | undefined
}

/**
 * Users who want a mail about an event of these noteables, by their settings and subscriptions: participants, subscribers and watchers,
 * and users with the level `custom` who selected the event.
 */
export const recipientsOfEvent = (
  db: Db,
  type: NoteableType,
  ids: readonly number[],
  { event, also = [], except = [], labelIds }: SoughtEvent,
): Promise<MailedEvent[]> => {
  const sought = labelIds
    ? sql`
      select distinct user_id as id, true as takes_part
      from label_subscriptions
      where label_id = any(${labelIds}::bigint[])
    `
    : sql`
      select id, bool_or(takes_part) as takes_part
      from (${candidates(type)} union all select id, true from unnest(${also}::bigint[]) as id) each
      group by id
    `
  return db.rows(
    mailedEventRow,
    sql`
      select u.id, u.name, u.username, ${mailAddress} as address, ${noteable(type)} as noteable
      from ${tableOf(type)} m ${around(type)}
        cross join lateral (${sought}) as perhaps
        join users u on u.id = perhaps.id ${settings(type)}
      where m.id = any(${ids}::bigint[])
        and u.id <> all(${except}::bigint[])
        and ${reached(type)}
        and ${wantsEvent(event)}
      order by m.id, u.id
    `,
  )
}

/** Users by id, as mails name them; without those who are deleted. */
export const authorsById = async (db: Db, ids: readonly number[]): Promise<ReadonlyMap<number, Author>> => {
  const rows = await db.rows(
    { id: integer, name: text, username: text },
    sql`select id, name, username from users where id = any(${ids}::bigint[])`,
  )
  return new Map(rows.map(({ id, ...author }) => [id, author]))
}

/** The actions of todos that are mailed, unless a note caused them, which is mailed itself. */
export const mailedActions = ['assigned', 'review_requested', 'mentioned', 'directly_addressed'] as const
export type MailedAction = (typeof mailedActions)[number]

export const mailedOpeningRow = { ...mailedEventRow, author: json<Author>() }
export type MailedOpening = RowOf<typeof mailedOpeningRow>

/**
 * Users who want a mail about a new noteable: as for other events, and those who subscribed to one of its labels. Not the user who
 * opened it, and not those whose todo for it is mailed. None if it is older than a day, as what is imported may be, or if its
 * author opened more than `limit` since an hour before it: owners choose the time of creation.
 */
export const recipientsOfOpening = (
  db: Db,
  type: PlannedType,
  { id, actorId }: { readonly id: number; readonly actorId: number },
  event: NotificationEvent,
  limit: number,
): Promise<MailedOpening[]> => {
  const column = columnOf(type)
  return db.rows(
    mailedOpeningRow,
    sql`
      select u.id, u.name, u.username, ${mailAddress} as address, ${noteable(type)} as noteable, ${author} as author
      from ${tableOf(type)} m ${around(type)}
        join users by_whom on by_whom.id = ${actorId}
        cross join lateral (
          select id, bool_or(takes_part) as takes_part
          from (
            ${candidates(type)}
            union all
            select s.user_id, true
            from ${raw(kindOf(type).planned!.labels)} l join label_subscriptions s on s.label_id = l.label_id
            where l.${column} = m.id
          ) each
          group by id
        ) as perhaps
        join users u on u.id = perhaps.id ${settings(type)}
      where m.id = ${id}
        and u.id <> ${actorId}
        and m.created_at > now() - interval '1 day'
        and ${reached(type)}
        and ${wantsEvent(event)}
        and not exists (
          select
          from todos t
          where t.${column} = m.id
            and t.user_id = u.id
            and t.author_id <> u.id
            and t.note_id is null
            and t.action = any(${mailedActions}::text[])
        )
        and (
          select count(*)
          from (
            select
            from ${tableOf(type)} l
            where l.author_id = m.author_id and l.created_at > least(m.created_at, now()) - interval '1 hour'
            limit ${literal(limit + 1)}
          ) counted
        ) <= ${literal(limit)}
      order by u.id
    `,
  )
}

/** A user whom another one named in a noteable: as an assignee or reviewer, or in its text. */
export type Named = { readonly userId: number; readonly authorId: number; readonly action: MailedAction }

export const mailedNamedRow = { ...mailedEventRow, action: textOf<MailedAction>(), author: json<Author>() }
export type MailedNamed = RowOf<typeof mailedNamedRow>

/** Of these users those who want a mail about it. */
export const recipientsOfNamed = (
  db: Db,
  type: TodoType,
  id: number,
  users: readonly Named[],
): Promise<MailedNamed[]> =>
  db.rows(
    mailedNamedRow,
    sql`
      select u.id, u.name, u.username, ${mailAddress} as address, ${noteable(type)} as noteable, named.action,
        ${author} as author
      from jsonb_to_recordset(${JSON.stringify(users)}::jsonb) as named (
          "userId" bigint, "authorId" bigint, action text
        )
        join ${tableOf(type)} m on m.id = ${id} ${around(type)}
        join users u on u.id = named."userId"
        join users by_whom on by_whom.id = named."authorId" ${settings(type)}
      where ${reached(type)}
        and (named.action not in ('assigned', 'review_requested') or ${levelInForce} <> ${notificationLevel('mention')})
      order by u.id
    `,
  )

/** What the todos of these ids are about, with their users, as the previous release queued them. */
export const namedByTodos = async (
  db: Db,
  ids: readonly number[],
): Promise<{ type: TodoType; id: number; users: Named[] }[]> =>
  db.rows(
    { type: notNull(textOf<TodoType>()), id: notNull(integer), users: json<Named[]>() },
    sql`
      select ${aboutType('t', todoTypes)} as type, ${aboutId('t', todoTypes)} as id,
        json_agg(json_build_object('userId', t.user_id, 'authorId', t.author_id, 'action', t.action)) as users
      from todos t
      where t.id = any(${ids}::bigint[])
      group by 1, 2
    `,
  )
