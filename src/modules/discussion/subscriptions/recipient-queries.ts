import type { Db } from '../../../db/db.ts'
import { integer, json, notNull, type RowOf, text, textOf } from '../../../db/row.ts'
import { empty, literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { levelNumber, mailAddress, type NotificationEvent, type Recipient, recipientRow } from '../../groups/index.ts'
import { holderPath, holderRemains, joinHolder } from '../noteables/holder-queries.ts'
import { kindOf, type NoteableType, noteableTypes, type PlannedType, todoTypes } from '../noteables/kinds.ts'
import { columnOf, numberOf, readersOfRow, tableOf } from '../noteables/queries.ts'
import { participants } from './queries.ts'

const level = (name: Parameters<typeof levelNumber>[0]): Sql => literal(levelNumber(name))

/** A noteable as mails name it. */
export type MailedNoteable = {
  readonly type: NoteableType
  readonly id: number
  /** Its number, or the object id of a commit. */
  readonly iid: number | string
  readonly title: string
  readonly full_path: string
}

export type Author = { readonly name: string; readonly username: string }

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
const ofHolder = (type: NoteableType): Sql =>
  raw(`${isOfProject(type) ? 's.project_id = p.id or ' : ''}s.namespace_id = any(n.traversal_ids)`)

/** The notification settings of `u`: of the project, else of the nearest group around the noteable, else the global ones. */
const settings = (type: NoteableType): Sql => sql`
  left join lateral (
    select s.level, s.events
    from notification_settings s
    where s.user_id = u.id
      and ((s.level <> ${level('global')} and (${ofHolder(type)})) or (s.project_id is null and s.namespace_id is null))
    order by s.project_id is null, array_position(n.traversal_ids, s.namespace_id) desc nulls last
    limit 1
  ) w on true
  left join subscriptions c on c.${columnOf(type)} = m.id and c.user_id = u.id
`

const chosen = sql`coalesce(w.level, ${level('participating')})`

/** Whether `u` may read the noteable `m` and has not turned off mails about it. */
const reached = (type: NoteableType): Sql =>
  sql`
    ${holderRemains(type)}
    and ${readersOfRow(type)}
    and coalesce(c.subscribed, true)
    and ${chosen} <> ${level('disabled')}
    and not exists (select from namespaces a where a.id = any(n.traversal_ids) and a.emails_disabled)
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

const watches = sql`s.level in (${level('watch')}, ${level('custom')})`
const inGeneral = raw('s.project_id is null and s.namespace_id is null')

/** Members of the project `p` who watch what they are members of. */
const watchingMembers = sql`
  union all
  select s.user_id, false
  from notification_settings s
    join project_access a on a.user_id = s.user_id and a.project_id = p.id and a.expires_on > current_date
  where ${watches} and ${inGeneral}
`

/** Users who may want mails about `m`: who participates or subscribed, and who watches the project or group. */
const candidates = (type: NoteableType): Sql => sql`
  select id, bool_or(takes_part) as takes_part
  from (
    select o.user_id as id, true as takes_part
    from (${participants(type, raw('m.id'), raw('m.author_id'))}) o
    union all
    select o.user_id, o.subscribed
    from subscriptions o
    where o.${columnOf(type)} = m.id
    union all
    select s.user_id, false
    from notification_settings s
    where ${watches} and (${ofHolder(type)})
    union all
    select s.user_id, false
    from notification_settings s
      join group_access a on a.user_id = s.user_id and a.group_id = n.id and a.expires_on > current_date
    where ${watches} and ${inGeneral} ${isOfProject(type) ? watchingMembers : empty}
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
        and case ${chosen}
          when ${level('mention')} then ${mentioned}
          when ${level('watch')} then true
          when ${level('custom')} then coalesce((w.events ->> 'new_note')::boolean, false) or perhaps.takes_part
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

/** Candidates who want a mail about an event, by the level in force; with the level `custom` they selected it or take part. */
const wantsEvent = (event: NotificationEvent): Sql => sql`
  case ${chosen}
    when ${level('mention')} then false
    when ${level('watch')} then true
    when ${level('custom')} then coalesce((w.events ->> ${event})::boolean, false) or perhaps.takes_part
    else perhaps.takes_part
  end
`

/**
 * Users who want a mail about an event of these noteables, by their settings and subscriptions: participants, subscribers and watchers,
 * and users with the level `custom` who selected the event.
 */
export const recipientsOfEvent = (
  db: Db,
  type: NoteableType,
  ids: readonly number[],
  event: NotificationEvent,
): Promise<MailedEvent[]> =>
  db.rows(
    mailedEventRow,
    sql`
      select u.id, u.name, u.username, ${mailAddress} as address, ${noteable(type)} as noteable
      from ${tableOf(type)} m ${around(type)}
        cross join lateral (${candidates(type)}) as perhaps
        join users u on u.id = perhaps.id ${settings(type)}
      where m.id = any(${ids}::bigint[]) and ${reached(type)} and ${wantsEvent(event)}
      order by m.id, u.id
    `,
  )

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

export const mailedTodoRow = {
  ...recipientRow,
  todo_id: integer,
  action: textOf<MailedAction>(),
  author: json<Author>(),
  noteable: json<MailedNoteable>(),
}
export type MailedTodo = RowOf<typeof mailedTodoRow>

/** Of these todos those to be mailed: to users who want that, and at most `limit` within an hour of one author. In order of id. */
export async function recipientsOfTodos(db: Db, ids: readonly number[], limit: number): Promise<MailedTodo[]> {
  const found = await Promise.all(todoTypes.map((type) => recipientsOfKind(db, type, ids, limit)))
  return found.flat().sort((a, b) => a.todo_id - b.todo_id)
}

const recipientsOfKind = (db: Db, type: NoteableType, ids: readonly number[], limit: number): Promise<MailedTodo[]> =>
  db.rows(
    mailedTodoRow,
    sql`
      select t.id as todo_id, u.id, u.name, u.username, ${mailAddress} as address, t.action, ${author} as author,
        ${noteable(type)} as noteable
      from todos t ${place(type)}
        join users u on u.id = t.user_id
        join users by_whom on by_whom.id = t.author_id ${settings(type)}
      where t.id = any(${ids}::bigint[])
        and ${reached(type)}
        and (t.action not in ('assigned', 'review_requested') or ${chosen} <> ${level('mention')})
        and (
          select count(*)
          from (
            select
            from todos l
            where l.author_id = t.author_id
              and l.user_id <> l.author_id
              and l.created_at > now() - interval '1 hour'
            limit ${literal(limit + 1)}
          ) counted
        ) <= ${literal(limit)}
    `,
  )
